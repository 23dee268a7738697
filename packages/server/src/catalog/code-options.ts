import { randomBytes } from 'node:crypto'
import { Failure, type Tool } from '@unfold-mcp/core'
import type { ScriptEngine, ScriptLimits } from '../scripts/engine.ts'
import { memoryScriptStore, type ScriptStore } from '../stores/script-store.ts'
import { declared, type Keys } from '../tool/declared.ts'
import type { Principal } from '../tool/principal.ts'

/**
 * Which calls of a script a person confirms: those of all tools that are not annotated as read-only (`writes`), only those annotated
 * as destructive (`destructive`), or none.
 */
export type CodeConfirm = 'writes' | 'destructive' | 'never'

/** Limits of one script. */
export interface CodeLimits extends ScriptLimits {
  /** Calls that run at the same time. */
  readonly parallelCalls: number
  /** How long a script waits for the answer of a person, in ms. */
  readonly answerMs: number
}

/** `run_code`: scripts over the tools. */
export interface CodeOptions {
  /** Lists `run_code` in every exposure; `false` only in `code`. Default: `true`. */
  readonly listed?: boolean
  /** Default: `writes`. */
  readonly confirm?: CodeConfirm
  readonly limits?: Partial<CodeLimits>
  /**
   * Encrypts the state of paused scripts; at least 32 bytes. Processes with the same secret continue each other's scripts.
   * Default: random, so that paused scripts end with the process.
   */
  readonly secret?: string | Uint8Array
  /** Records which paused scripts were continued. Processes with the same secret need a common one. Default: in memory. */
  readonly store?: ScriptStore
  /**
   * Decides on a call that would be confirmed or not by its annotations.
   * @internal
   */
  readonly consent?: ScriptConsent
  /**
   * Opens the engine when the first script runs.
   * @internal
   */
  readonly engine?: () => Promise<ScriptEngine>
  /**
   * Called when a script ends or pauses.
   * @internal
   */
  readonly ran?: (run: ScriptRunRecord) => void
}

/** A call that a script wants to make. */
export interface ProposedCall {
  readonly tool: Tool
  readonly source: string
  readonly arguments: Readonly<Record<string, unknown>>
  readonly principal: Principal | undefined
}

export interface ScriptConsent {
  /** `run`: without a question of `run_code`; `untrusted`: annotations do not count; `default`: annotations count. */
  decide(call: ProposedCall): Promise<'run' | 'untrusted' | 'default'>
  /** Removes known secrets from arguments that are shown to a person. */
  redact(value: unknown): unknown
  /** Whether calls that need confirmation run with `ctx.script.confirmation: 'missing'` where the client cannot ask a person. */
  readonly delegates: boolean
}

/** What became of a script. */
export interface ScriptRunRecord {
  readonly run: string
  /** Name of a stored script; absent for `run_code`. */
  readonly stored?: string
  /** Argument of `run_code`. */
  readonly code?: string
  readonly input: unknown
  /** The run of the script that called this one. */
  readonly parent?: string
  readonly outcome: 'returned' | 'failed' | 'paused'
  readonly calls: number
  readonly scope: string
  readonly era: 'session' | 'stateless'
  readonly principal: Principal | undefined
  readonly ms: number
}

/** `CodeOptions` with defaults filled in. */
export interface CodeSettings {
  readonly confirm: CodeConfirm
  readonly limits: CodeLimits
  readonly secret: Uint8Array
  readonly store: ScriptStore
  readonly consent: ScriptConsent | undefined
  readonly engine: (() => Promise<ScriptEngine>) | undefined
  readonly ran: ((run: ScriptRunRecord) => void) | undefined
}

const defaultCodeLimits: CodeLimits = {
  cpuMs: 5_000,
  wallMs: 300_000,
  memoryBytes: 67_108_864,
  calls: 500,
  outputCharacters: 20_000,
  resultBytes: 200_000,
  parallelCalls: 8,
  answerMs: 600_000,
}

const codeKeys: Keys<CodeOptions> = {
  listed: true,
  confirm: true,
  limits: true,
  secret: true,
  store: true,
  consent: true,
  engine: true,
  ran: true,
}

const limitKeys: Keys<CodeLimits> = {
  cpuMs: true,
  wallMs: true,
  memoryBytes: true,
  calls: true,
  outputCharacters: true,
  resultBytes: true,
  parallelCalls: true,
  answerMs: true,
}

const leastSecretBytes = 32

/** Fills in defaults; `undefined` if scripts are turned off. */
export function codeSettings(given: boolean | CodeOptions | undefined): CodeSettings | undefined {
  if (given === false) return undefined
  const options = typeof given === 'object' ? declared('"code"', given, codeKeys) : {}
  limitsOf(options)
  // Getters: a gateway changes these while it runs.
  return {
    get confirm() {
      return options.confirm ?? 'writes'
    },
    get limits() {
      return limitsOf(options)
    },
    secret: secretOf(options.secret),
    store: options.store ?? memoryScriptStore(),
    consent: options.consent,
    engine: options.engine,
    ran: options.ran,
  }
}

function limitsOf({ limits: given }: CodeOptions): CodeLimits {
  const limits = { ...defaultCodeLimits, ...(given !== undefined && declared('"code.limits"', given, limitKeys)) }
  for (const [key, value] of Object.entries(limits)) {
    if (Number.isSafeInteger(value) && value > 0) continue
    throw new Failure('invalid_declaration', `code.limits.${key} must be a whole number above 0, not ${value}.`, {
      what: `code.limits.${key}`,
    })
  }
  return limits
}

/** Whether `run_code` is listed in every exposure. */
export const listsCode = (given: boolean | CodeOptions | undefined): boolean =>
  given === true || (typeof given === 'object' && given.listed !== false)

function secretOf(secret: string | Uint8Array | undefined): Uint8Array {
  if (secret === undefined) return randomBytes(leastSecretBytes)
  const bytes = typeof secret === 'string' ? new TextEncoder().encode(secret) : secret
  if (bytes.length >= leastSecretBytes) return bytes
  throw new Failure('invalid_declaration', `code.secret must have at least ${leastSecretBytes} bytes, not ${bytes.length}.`, {
    what: 'code.secret',
  })
}
