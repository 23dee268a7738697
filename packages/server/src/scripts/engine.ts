import type { SharePath } from '@unfold-mcp/core'

/** Where scripts run. An engine executes code and reports; every decision is made by its caller. */
export interface ScriptEngine extends AsyncDisposable {
  /** Engine and harness version. A snapshot of another version cannot be restored. */
  readonly version: string
  /** Waits for a free worker. Rejects with a Failure when the queue is full or `signal` aborts; later, `signal` closes the machine. */
  open(options: ScriptOptions): Promise<ScriptMachine>
}

export interface ScriptOptions {
  readonly limits: ScriptLimits
  readonly signal: AbortSignal
  /** Whose script it is: workers and places in the queue are shared fairly. */
  readonly holder?: SharePath
}

/** One sandbox with one script. Single use. After a rejected promise it has ended; a limit rejects with `script_limit`. */
export interface ScriptMachine {
  /** Runs a program (JavaScript, types already removed) until it ends or waits for calls. */
  start(program: ScriptProgram): Promise<ScriptTurn>
  /** Restores a snapshot and returns the turn at which it was taken (its outstanding calls). */
  restore(snapshot: Uint8Array): Promise<ScriptTurn>
  /** Settles calls, then runs until the program ends or waits again. Unknown and settled ids are ignored. */
  settle(outcomes: readonly CallOutcome[]): Promise<ScriptTurn>
  /** Only between turns, while the script waits. Compressed difference to a fresh machine; neither encrypted nor authenticated. */
  snapshot(): Promise<Uint8Array>
  /** CPU time used so far, in ms; survives snapshot and restore. */
  readonly cpuMs: number
  /** Console lines that no turn has returned: those of a turn that ended with a Failure. */
  readonly unreadOutput: readonly string[]
  /** Aborts when the machine has ended, also between turns; the reason is the Failure, or undefined after `close`. */
  readonly ended: AbortSignal
  close(): void
}

/**
 * What a program is. `body`: that of a function, so that it can await and return; `module`: its default export is called with the
 * input; `exports`: a module that is only loaded, and whose result is a `ModuleExports`.
 */
export type ProgramForm = 'body' | 'module' | 'exports'

/** Exports of a module as JSON. */
export interface ModuleExports {
  /** `typeof` of the default export. */
  readonly type: string
  /** The others, without functions. */
  readonly exports: { readonly [name: string]: unknown }
}

export interface ScriptProgram {
  readonly source: string
  /** Default: `body`. */
  readonly form?: ProgramForm
  /** JSON value of the global `input`. */
  readonly input?: unknown
  /** What `Date.now()` returns throughout the run, in ms since 1970; default: 0. */
  readonly startedAt?: number
  /** Seed of `Math.random()`, a 32-bit integer; default: 0. */
  readonly seed?: number
}

/** `output`: console lines since the last turn, capped. */
export type ScriptTurn =
  /** `calls`: all calls that are outstanding; those not seen in earlier turns are new. */
  | { readonly kind: 'waiting'; readonly calls: readonly ScriptCall[]; readonly output: readonly string[] }
  | { readonly kind: 'returned'; readonly value: unknown; readonly output: readonly string[] }
  | { readonly kind: 'threw'; readonly error: ScriptError; readonly output: readonly string[] }

export interface ScriptCall {
  readonly id: number
  readonly kind: 'tool' | 'search' | 'describe'
  /** Tool: the property names after `tools`, joined with "."; otherwise the kind. */
  readonly name: string
  /** Tool: its arguments. Search: `{ query, …options }`. Describe: `{ names, …options }`. */
  readonly arguments: unknown
  readonly line: number | undefined
}

export type CallOutcome =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: { readonly message: string; readonly reason: string; readonly data?: unknown } }

/** Uncaught error of a script; positions are those of its source and start at 1. */
export interface ScriptError {
  readonly name: string
  readonly message: string
  readonly line?: number
  readonly column?: number
  readonly stack?: string
}

export interface ScriptLimits {
  readonly cpuMs: number
  /** From `start` or `restore` to the end, including the time for which the script waits. */
  readonly wallMs: number
  readonly memoryBytes: number
  readonly calls: number
  /** Calls outstanding at the same time; default: `calls`. */
  readonly parallelCalls?: number
  /** Console characters that are kept. More are cut; ten times as many end the script. */
  readonly outputCharacters: number
  readonly resultBytes: number
}
