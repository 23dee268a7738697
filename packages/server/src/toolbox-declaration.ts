import type { Implementation } from '@modelcontextprotocol/server'
import { checkGroupName, type Facts, Failure, gateName } from '@unfold-mcp/core'
import { codeSettings, listsCode } from './catalog/code-options.ts'
import type { Declaration } from './catalog/declaration.ts'
import { defaultExposureSettings, withExposure } from './catalog/exposure-options.ts'
import { declaredGroups } from './catalog/group-options.ts'
import { defaultMessageLimits } from './catalog/message-limits.ts'
import { memoryStore } from './stores/memory.ts'
import { type Declared, declared } from './tool/declared.ts'
import type { Principal } from './tool/principal.ts'
import { stderrReporter } from './tool/report.ts'
import {
  type GateOptions,
  gateKeys,
  type Introduction,
  introductionKeys,
  limitKeys,
  protocolKeys,
  quotaKeys,
  searchKeys,
  type ToolboxOptions,
  toolboxKeys,
} from './toolbox-options.ts'

/** Returns the options with current keys, and throws for unknown keys. */
function declaredOptions<F extends Facts, P extends Principal>(
  given: ToolboxOptions<unknown, F, P>,
): Declared<ToolboxOptions<unknown, F, P>> {
  const options = declared(`toolbox "${given.name}"`, given, toolboxKeys)
  if (options.quota !== undefined) declared('"quota"', options.quota, quotaKeys)
  if (options.limits !== undefined) declared('"limits"', options.limits, limitKeys)
  if (options.protocol !== undefined) declared('"protocol"', options.protocol, protocolKeys)
  if (typeof options.search === 'object') declared('"search"', options.search, searchKeys)
  return options
}

function declaredGate(gate: string | GateOptions | undefined): Declared<GateOptions> | undefined {
  if (gate === undefined) return undefined
  return typeof gate === 'string' ? { description: gate } : declared('"gate"', gate, gateKeys)
}

/** Fills in defaults, and throws for options that contradict each other. */
export function declarationOf<F extends Facts, P extends Principal>(
  given: ToolboxOptions<unknown, F, P>,
  { extend = [], scopedServer }: { readonly extend?: Declaration['extend']; readonly scopedServer?: Declaration['scopedServer'] },
): Declaration {
  const options = declaredOptions(given)
  const { limits = {}, protocol = {} } = options
  for (const what of ['callTimeoutMs', 'hookTimeoutMs', 'concurrency'] as const) positive(`limits.${what}`, limits[what])
  for (const what of ['pageSize', 'notifyIntervalMs'] as const) positive(`protocol.${what}`, protocol[what])
  if (typeof options.search === 'object') positive('search.deadlineMs', options.search.deadlineMs)
  const { name, version, title, icons, websiteUrl } = options
  const introduction = (): Declared<Introduction> => declared('"introduce"', options.introduce?.() ?? {}, introductionKeys)
  const implementation: Implementation = {
    name,
    version,
    ...(title !== undefined && { title }),
    ...(icons !== undefined && { icons }),
    ...(websiteUrl !== undefined && { websiteUrl }),
  }
  const gate = declaredGate(options.gate)
  const behind = declaredGroups((options.groups ?? {}) as Declaration['groups'])
  for (const group of Object.keys(behind)) checkGroupName(group)
  const groups = gate === undefined ? behind : { [gateName]: { title: title ?? name, ...gate }, ...behind }
  return {
    get info() {
      return introduction().info ?? implementation
    },
    get description() {
      return introduction().description ?? options.description
    },
    instructions: options.instructions,
    groups,
    gated: options.gate !== undefined,
    quota: options.quota ?? {},
    hiddenCalls: options.hiddenCalls ?? 'opaque',
    exposureSettings: withExposure(
      { ...defaultExposureSettings, code: listsCode(options.code) },
      typeof options.exposure === 'function' ? {} : (options.exposure ?? {}),
    ),
    exposureFor: typeof options.exposure === 'function' ? (options.exposure as Declaration['exposureFor']) : undefined,
    code: codeSettings(options.code),
    menu: options.menu ?? 'all',
    pageSize: protocol.pageSize,
    facts: options.facts,
    notifyIntervalMs: protocol.notifyIntervalMs ?? 1_000,
    after: options.after,
    counts: protocol.counts ?? true,
    identity: protocol.identity ?? 'definitions',
    permit: options.permit as Declaration['permit'],
    search: (options.search ?? {}) as Declaration['search'],
    remember: (options.remember as Declaration['remember'] | undefined) ?? 'session',
    store: options.store ?? memoryStore(),
    callTimeoutMs: limits.callTimeoutMs ?? 300_000,
    relistTimeoutMs: protocol.relistTimeoutMs ?? 500,
    hookTimeoutMs: limits.hookTimeoutMs ?? 30_000,
    ttlMs: protocol.ttlMs,
    listChanged: protocol.listChanged ?? true,
    messageLimits: {
      elements: limits.elements ?? defaultMessageLimits.elements,
      depth: limits.depth ?? defaultMessageLimits.depth,
    },
    callLimits: limits.concurrency === undefined ? undefined : { concurrency: limits.concurrency, queue: limits.queue ?? 256 },
    admit: options.admit as Declaration['admit'],
    rejected: options.rejected as Declaration['rejected'],
    listed: options.listed as Declaration['listed'],
    report: options.report ?? stderrReporter(),
    now: options.now ?? (() => performance.now()),
    extend,
    scopedServer,
  }
}

function positive(what: string, value: number | undefined): void {
  if (value === undefined || (Number.isInteger(value) && value > 0)) return
  throw new Failure('invalid_declaration', `${what} must be a whole number above 0, not ${value}.`, { what })
}
