import type { ToolContext } from '@unfold-mcp/server'
import type { Client } from '../access/access.ts'
import { version } from '../base/version.ts'
import { policyDigest } from '../config/policy/digest.ts'
import type { AuditArguments, Config } from '../config/schema.ts'
import type { Redactor } from '../observability/redactor.ts'
import { argumentRules, recordedArguments } from './arguments.ts'
import { AuditFile, type AuditFileOptions, type AuditPosition } from './audit-file.ts'
import { type Changes, configChanges } from './config-changes.ts'
import { type AuditType, hashLine } from './record.ts'

type AuditConfig = NonNullable<Config['audit']>

/** A tool as the gateway knows it. */
export interface AuditedTool {
  readonly upstream: string
  /** Name of the tool on its server. */
  readonly tool: string
  readonly exposedName: string
  /** As in trust decisions. */
  readonly definitionDigest: string
}

/** Finds tools for their digests and rules. */
export interface AuditedTools {
  /** By server and name on the server. */
  of(upstream: string, tool: string): AuditedTool | undefined
  /** By the name that clients use. */
  exposed(name: string, client: Client | undefined): AuditedTool | undefined
}

/** Who made a call. */
export interface AuditedCaller {
  readonly principal: Client | undefined
  readonly scope: string
  readonly era: ToolContext['era']
  readonly client: Pick<NonNullable<ToolContext['client']>, 'name'> | undefined
}

/** A decision or a change that is not a call. Values are redacted before they are written. */
export interface AuditEvent {
  readonly type: Extract<AuditType, 'approval' | 'trust' | 'policy' | 'finding' | 'token' | 'config' | 'script'>
  /** What happened, such as `approved`. */
  readonly outcome: string
  /** Who did it, such as `terminal` or `token:reviewer`. */
  readonly client?: string
  readonly upstream?: string
  readonly tool?: string
  readonly [field: string]: unknown
}

export interface AuditLogOptions extends Pick<AuditFileOptions, 'onStatus'> {
  readonly path: string
  readonly config: AuditConfig
  readonly redactor: Redactor
}

/** Records calls, rejections, decisions and changes, without secrets. */
export class AuditLog {
  readonly #file: AuditFile
  readonly #redactor: Redactor
  readonly #ruleOf: (exposedName: string) => AuditArguments
  readonly #isStrict: boolean
  #tools: AuditedTools = { of: () => undefined, exposed: () => undefined }

  constructor({ path, config, redactor, onStatus }: AuditLogOptions) {
    const { maxBytes, keep } = config
    this.#file = new AuditFile(path, { onStatus, maxBytes, ...(maxBytes !== undefined && { keep }) })
    this.#redactor = redactor
    this.#ruleOf = argumentRules(config)
    this.#isStrict = config.onFailure === 'refuse'
  }

  /** Whether a call is rejected unless it was recorded before. */
  get isStrict(): boolean {
    return this.#isStrict
  }

  get position(): AuditPosition | undefined {
    return this.#file.position
  }

  /** Sets where tools are found, once the gateway exists. */
  follow(tools: AuditedTools): void {
    this.#tools = tools
  }

  /** Opens the file and records the start, so that changes made while the gateway was not running can be seen. */
  async open(config: Config): Promise<void> {
    await this.#file.open()
    const servers = Object.keys(config.mcpServers).map((name) => this.#redactor.name(name))
    const tokens = config.tokens.map(({ name }) => this.#redactor.name(name))
    const policy = config.policy === undefined ? {} : { policy: policyDigest(config) }
    await this.#file.write('start', { version, pid: process.pid, servers, tokens, ...policy })
  }

  /** Records a call to a tool. Resolves to false if it cannot be written. */
  call(caller: AuditedCaller, call: AuditedCall): Promise<boolean> {
    const { input, upstream, tool, ...fields } = call
    const known = this.#tools.of(upstream, tool)
    return this.#file.write('call', {
      ...this.#who(caller),
      upstream,
      tool: this.#redactor.name(tool),
      ...this.#digestsOf(known, input, known?.exposedName ?? tool),
      ...fields,
    })
  }

  /** Records a call that ended before it reached a server. */
  rejection(caller: AuditedCaller, { tool, input, outcome }: RejectionFields): void {
    const known = this.#tools.exposed(tool, caller.principal)
    void this.#file.write('rejection', {
      ...this.#who(caller),
      ...(known !== undefined && { upstream: known.upstream }),
      tool: this.#redactor.name(known?.tool ?? tool),
      ...this.#digestsOf(known, input, tool),
      outcome,
    })
  }

  /** Records a run of a script, with the arguments of `run_code`. A stored script is a tool, so its call has the arguments. */
  script({ run, stored, parent, code, input, outcome, calls, ms, principal }: ScriptFields): void {
    const isCode = code !== undefined
    void this.#file.write('script', {
      client: this.#redactor.name(principal?.id ?? 'anonymous'),
      script: run,
      ...(stored !== undefined && { stored: this.#redactor.name(stored) }),
      ...(parent !== undefined && { parent }),
      outcome,
      calls,
      ms,
      ...(isCode && this.#digestsOf(undefined, { code, ...(input !== undefined && { input }) }, 'run_code')),
    })
  }

  /** Records an approval, or a change of trust, policy, tokens or configuration. Resolves to false if it cannot be written. */
  event({ type, ...fields }: AuditEvent): Promise<boolean> {
    return this.#file.write(type, this.#redactor.data(fields) as object)
  }

  /** Records what a reload of the configuration changed, by name. */
  configApplied(before: Config, after: Config): void {
    const { servers, tokens, policy, settings } = configChanges(before, after)
    if (hasChanges(servers) || settings.length > 0) void this.event({ type: 'config', outcome: 'applied', ...servers, settings })
    if (policy !== undefined) void this.event({ type: 'policy', outcome: 'changed', ...policy })
    for (const [names, outcome] of tokenOutcomes(tokens))
      for (const token of names) void this.event({ type: 'token', outcome, name: token })
  }

  configRejected(outcome: 'invalid' | 'failed'): void {
    void this.event({ type: 'config', outcome })
  }

  async close(): Promise<void> {
    void this.#file.write('stop')
    await this.#file.close()
  }

  #who({ principal, scope, era, client }: AuditedCaller): object {
    return {
      client: this.#redactor.name(principal?.id ?? 'anonymous'),
      ...(client?.name !== undefined && { agent: this.#redactor.name(client.name) }),
      // Hashed, because whoever knows the ID of a session can use it.
      ...(era === 'session' && { session: hashLine(scope).slice(0, 12) }),
      ...(principal?.profile !== undefined && { profile: principal.profile }),
    }
  }

  #digestsOf(known: AuditedTool | undefined, input: unknown, name: string): object {
    return {
      ...(known !== undefined && { definitionDigest: known.definitionDigest }),
      ...recordedArguments(input, this.#ruleOf(known?.exposedName ?? name), (value) => this.#redactor.data(value)),
    }
  }
}

/** A call, before or after it was sent. */
export interface AuditedCall {
  readonly upstream: string
  readonly tool: string
  readonly input: unknown
  readonly outcome: string
  /** The rule of the policy that denied it, such as `policy.rules[2]`. */
  readonly rule?: string
  /** Same for all records of one call. */
  readonly call: string
  /** Span of the caller, from its trace context. */
  readonly parent?: string
  /** The run of the script that made the call. */
  readonly script?: string
  /** Line of the call in the script. */
  readonly line?: number
  readonly ms?: number
  readonly sentCharacters?: number
  readonly receivedCharacters?: number
}

interface RejectionFields {
  readonly tool: string
  readonly input: unknown
  readonly outcome: string
}

interface ScriptFields {
  readonly run: string
  readonly stored?: string
  readonly parent?: string
  readonly code?: string
  readonly input: unknown
  readonly outcome: string
  readonly calls: number
  readonly ms: number
  readonly principal: { readonly id: string } | undefined
}

const hasChanges = ({ added, removed, changed }: Changes): boolean => added.length + removed.length + changed.length > 0

const tokenOutcomes = ({ added, removed, changed }: Changes) =>
  [
    [added, 'added'],
    [removed, 'revoked'],
    [changed, 'changed'],
  ] as const
