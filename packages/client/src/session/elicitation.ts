import type { ElicitRequestParams, ElicitResult } from '@modelcontextprotocol/client'
import { isRecord } from '@unfold-mcp/core'

/** Elicitation request of a server: a form to fill in, or a URL to visit. */
export type Elicitation =
  | { readonly mode: 'form'; readonly message: string; readonly schema: Readonly<Record<string, unknown>> }
  | { readonly mode: 'url'; readonly message: string; readonly url: string }

/** Response of the user. */
export type ElicitationResult =
  | { readonly action: 'accept'; readonly content?: Readonly<Record<string, string | number | boolean | string[]>> }
  | { readonly action: 'decline' | 'cancel' }

/** Asks the user. The signal is aborted when the server no longer waits. */
export type ElicitationHandler = (request: Elicitation, signal: AbortSignal) => Promise<ElicitationResult>

/** Handles one elicitation at a time. */
export class ElicitationQueue {
  readonly #elicit: ElicitationHandler
  #last: Promise<unknown> = Promise.resolve()
  #open = 0

  constructor(elicit: ElicitationHandler) {
    this.#elicit = elicit
  }

  /** True while the user is being asked; timeouts are suspended. */
  get isWaitingForUser(): boolean {
    return this.#open > 0
  }

  async enqueue(params: ElicitRequestParams, signal: AbortSignal): Promise<ElicitResult> {
    this.#open++
    const pending = this.#last.then(async (): Promise<ElicitationResult> => {
      return signal.aborted ? { action: 'cancel' } : this.#elicit(parseElicitation(params), signal)
    })
    this.#last = pending.catch(() => undefined)
    try {
      const result = await pending
      if (result.action !== 'accept') return { action: result.action }
      return { action: 'accept', ...(result.content !== undefined && { content: { ...result.content } }) }
    } finally {
      this.#open--
    }
  }
}

function parseElicitation(params: ElicitRequestParams): Elicitation {
  const { message } = params
  if ('url' in params) return { mode: 'url', message, url: params.url }
  const schema: unknown = params.requestedSchema
  return { mode: 'form', message, schema: isRecord(schema) ? schema : {} }
}
