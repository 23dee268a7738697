import { metaKeys, printable } from '@unfold-mcp/core'
import type { AuditLog } from '../audit/audit-log.ts'
import type { Log } from '../base/log.ts'
import { TokenBucket } from '../base/token-bucket.ts'
import type { Config } from '../config/schema.ts'
import type { Journal } from '../observability/journal.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { Redactor } from '../observability/redactor.ts'
import { type InspectionSettings, inspect, type ResultFinding } from './inspect.ts'

export interface ResultInspectorOptions {
  readonly config: () => Config
  readonly redactor: Redactor
  readonly log: Log
  readonly journal: Journal
  readonly metrics: Metrics
  readonly audit?: AuditLog | undefined
}

/** Where a result comes from. */
export interface ResultOrigin {
  readonly upstream: string
  /** What the client requested, such as the name of a tool or a URI. */
  readonly what: string
}

/** Returns the result for the client, or throws `BlockedResult`. */
export type InspectResult = <T extends object>(origin: ResultOrigin, result: T) => Promise<T>

/** A result that clients must not receive. The message is for the model. */
export class BlockedResult extends Error {
  constructor({ path, description }: ResultFinding) {
    super(
      `The result was blocked: ${path} ${description}. The request was carried out, so do not repeat it; tell the user. ` +
        'The operator can allow such results with "results" in unfold.json.',
    )
  }
}

// Per server. A server whose results are full of findings must not fill the log.
const lineLimit = { capacity: 50, refill: 1, everyMs: 1_000 }
const maxRules = 10

/** Inspects results as configured, and reports what was found. */
export function resultInspector({ config, redactor, log, journal, metrics, audit }: ResultInspectorOptions): InspectResult {
  const buckets = new Map<string, TokenBucket>()
  const mayLog = (upstream: string): boolean => {
    const bucket = buckets.get(upstream) ?? new TokenBucket({ ...lineLimit, now: () => performance.now() })
    buckets.set(upstream, bucket)
    return bucket.tryTake(1)
  }

  const report = ({ upstream, what }: ResultOrigin, findings: readonly ResultFinding[]): void => {
    const action = findings.some((each) => each.action === 'blocked')
      ? 'blocked'
      : findings.some((each) => each.action === 'masked')
        ? 'masked'
        : 'flagged'
    const rules = [...new Set(findings.map(({ rule }) => rule))].slice(0, maxRules)
    const tool = redactor.name(what)
    for (const rule of rules) metrics.resultFinding({ upstream, rule, action })
    journal.write('finding', { upstream, tool, action, rules })
    void audit?.event({ type: 'finding', outcome: action, upstream, tool, rules })
    const [first] = findings
    // Only long, which is normal for some tools: each of their results would be a warning.
    const level = rules.every((rule) => rule === 'unread') && action === 'flagged' ? 'debug' : 'warn'
    if (first === undefined || !mayLog(upstream)) return
    const more = findings.length === 1 ? '' : `, and ${findings.length - 1} more`
    const excerpt = first.excerpt === undefined ? '' : ` ("${first.excerpt}")`
    log[level](
      { upstream, event: 'result_finding', tool, findings },
      `${action} result of ${tool}: ${first.path} ${first.description}${excerpt}${more}`,
    )
  }

  return async (origin, original) => {
    const settings = settingsOf(config(), origin.upstream)
    const { result, findings } = await inspect(original, settings, (text) => redactor.secretsIn(text))
    if (findings.length === 0) return result
    report(origin, findings)
    const blocked = findings.find(({ action }) => action === 'blocked')
    if (blocked !== undefined) throw new BlockedResult(blocked)
    return withFindings(result, findings)
  }
}

function settingsOf({ results, mcpServers }: Config, upstream: string): InspectionSettings {
  const { instructions = results.instructions, secrets = results.secrets } = mcpServers[upstream]?.results ?? {}
  return { instructions, secrets }
}

/** Adds the findings to `_meta`. Excerpts are omitted, because some hosts show metadata to the model. */
function withFindings<T extends object>(result: T, findings: readonly ResultFinding[]): T {
  const { _meta } = result as { readonly _meta?: object }
  const listed = findings.map(({ rule, path, description, action }) => ({
    rule,
    path: printable(path, 200),
    description,
    action,
  }))
  return { ...result, _meta: { ..._meta, [metaKeys.findings]: listed } }
}
