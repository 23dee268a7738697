import type { RequestId } from '@modelcontextprotocol/server'
import type { Runtime } from '../runtime/runtime.ts'
import type { Scope } from '../scope/scope.ts'
import type { ClientPort } from '../tool/client-port.ts'

export type Params = { readonly [name: string]: unknown }

/** A request for a method that Unfold answers itself, whatever transport it came over. */
export interface OwnRequest {
  readonly id: RequestId
  readonly params: Params
  readonly client: ClientPort
  /** Aborted when the client cancels the request or its time is up. */
  readonly controller: AbortController
  /** The protocol revision that client and server agreed on. */
  readonly revision?: string | undefined
  /** The HTTP request that it came with. */
  readonly http?: (() => Request) | undefined
}

/** A result whose JSON was put together from parts that were encoded before. */
export class EncodedResult {
  readonly parts: readonly (string | Uint8Array<ArrayBuffer>)[]

  constructor(parts: EncodedResult['parts']) {
    this.parts = parts
  }
}

/** Answers one method for one scope. A `Failure` that it throws becomes a JSON-RPC error. */
export type Operation = (runtime: Runtime, scope: Scope, request: OwnRequest) => Promise<object | EncodedResult>
