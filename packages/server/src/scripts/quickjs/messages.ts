import type { ScriptLimit } from '@unfold-mcp/core'
import type { ProgramForm, ScriptError, ScriptLimits } from '../engine.ts'

/** Data that a worker thread starts with. `wasm`: the compiled module. */
export interface WorkerSettings {
  readonly wasm: object
  readonly harness: string
  readonly version: string
}

/** Values are JSON text. `wallMs`: time until the turn must end. */
export type WorkerRequest =
  | {
      readonly kind: 'start'
      readonly limits: ScriptLimits
      readonly wallMs: number
      readonly source: string
      readonly form: ProgramForm
      readonly input: string | undefined
      readonly startedAt: number
      readonly seed: number
    }
  | { readonly kind: 'restore'; readonly limits: ScriptLimits; readonly wallMs: number; readonly snapshot: Uint8Array }
  /** `outcomes`: a list of `[id, 1, value]` and `[id, 0, error]`. */
  | { readonly kind: 'settle'; readonly wallMs: number; readonly outcomes: string }
  | { readonly kind: 'snapshot' }
  /** Drops the script. */
  | { readonly kind: 'end' }

export type WorkerReply =
  /** `cpuFile`: where the main thread reads the CPU time of this thread. */
  | { readonly kind: 'ready'; readonly cpuFile: string | undefined }
  | WorkerTurn
  | WorkerStop
  | { readonly kind: 'rejected'; readonly problem: string }
  | { readonly kind: 'snapshot'; readonly bytes: Uint8Array }
  | { readonly kind: 'ended' }

interface WorkerUse {
  readonly output: readonly string[]
  readonly cpuMs: number
  /** Size of the machine's memory, which never shrinks. */
  readonly memoryBytes: number
}

/** A script that reached a limit. */
export interface WorkerStop extends WorkerUse {
  readonly kind: 'stopped'
  readonly by: ScriptLimit
}

export interface WorkerTurn extends WorkerUse {
  readonly kind: 'turn'
  readonly end:
    | { readonly kind: 'waiting'; readonly calls: readonly WorkerCall[] }
    | { readonly kind: 'returned'; readonly value: string | undefined }
    | { readonly kind: 'threw'; readonly error: ScriptError }
}

interface WorkerCall {
  readonly id: number
  readonly kind: 'tool' | 'search' | 'describe'
  readonly name: string
  readonly arguments: string
  readonly line: number | undefined
}
