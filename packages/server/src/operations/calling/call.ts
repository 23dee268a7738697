import type { RequestId, ServerContext } from '@modelcontextprotocol/server'
import type { ClientPort } from '../../tool/client-port.ts'
import type { ScriptCaller } from '../../tool/context.ts'
import type { Transition } from '../../tool/transition.ts'
import type { Answers } from './input-required.ts'

/** A `tools/call` request and the client that sent it. */
export interface Call extends Answers {
  readonly name: string
  readonly arguments?: unknown
  readonly id?: RequestId | undefined
  /** `_meta` of the request, without the envelope. */
  readonly meta?: ServerContext['mcpReq']['_meta']
  /** The members of `_meta` in which a 2026-07-28 client describes itself. */
  readonly envelope?: ServerContext['mcpReq']['envelope']
  /** Absent for a call without a transport. */
  readonly client?: ClientPort | undefined
  /** The script that makes the call. */
  readonly script?: ScriptCaller | undefined
  /** The number of scripts that called each other for this call; absent for a call of the client itself. */
  readonly scriptDepth?: number
  /** May call tools that this scope may not, by their names: those that the operator granted to the script that makes the call. */
  readonly grants?: ((tool: string) => boolean) | undefined
  readonly http?: (() => Request) | undefined
  readonly signal?: AbortSignal | undefined
  /** Replaces `signal`; also aborted when the call times out. */
  readonly controller?: AbortController | undefined
}

/** The changes that a call has made so far. */
export interface CallEffects {
  readonly transitions: Transition[]
  /** Those transitions that let an unlisted tool run; the tool's result does not mention them. */
  readonly reveals: Transition[]
  /** Groups that the handler asked to activate. */
  readonly requested: Set<string>
  /** Later changes are announced on their own. */
  isOpen: boolean
  /** Whether a handler was called. */
  hasRun: boolean
}

export const noEffects = (): CallEffects => ({ transitions: [], reveals: [], requested: new Set(), isOpen: true, hasRun: false })
