import type { RequestId } from '@modelcontextprotocol/server'
import type { Runtime } from '../runtime/runtime.ts'
import type { Scope } from '../scope/scope.ts'
import type { ClientPort } from '../tool/client-port.ts'

export type Params = { readonly [name: string]: unknown }

/** A request for a method that Unfold handles itself, over any transport. */
export interface OwnRequest {
  readonly id: RequestId
  readonly params: Params
  readonly client: ClientPort
  /** Aborted when the client cancels the request or it times out. */
  readonly controller: AbortController
  /** The negotiated protocol revision. */
  readonly revision?: string | undefined
  readonly http?: (() => Request) | undefined
}

/** A result whose JSON consists of parts that were encoded earlier. */
export class EncodedResult {
  readonly parts: readonly (string | Uint8Array<ArrayBuffer>)[]

  constructor(parts: EncodedResult['parts']) {
    this.parts = parts
  }
}

/** Handles one method for one scope. A thrown `Failure` becomes a JSON-RPC error. */
export type Operation = (runtime: Runtime, scope: Scope, request: OwnRequest) => Promise<object | EncodedResult>
