import type { ElicitRequestParams, ElicitResult } from '@modelcontextprotocol/client'
import { isRecord } from '@unfold-mcp/core'

/** What a server asks of the person in front of the client: to fill in a form, or to visit an address. */
export type Elicitation =
  | { readonly mode: 'form'; readonly message: string; readonly schema: Readonly<Record<string, unknown>> }
  | { readonly mode: 'url'; readonly message: string; readonly url: string }

/** What the person says to it. */
export type Elicited =
  | { readonly action: 'accept'; readonly content?: Readonly<Record<string, string | number | boolean | string[]>> }
  | { readonly action: 'decline' | 'cancel' }

/** Asks the person. The signal is aborted when nobody waits for the answer any more. */
export type Elicit = (question: Elicitation, signal: AbortSignal) => Promise<Elicited>

/** Asks one question at a time, and knows whether somebody is being asked. */
export class Asking {
  readonly #elicit: Elicit
  #last: Promise<unknown> = Promise.resolve()
  #open = 0

  constructor(elicit: Elicit) {
    this.#elicit = elicit
  }

  /** Whether a person is being asked: nobody should run out of time over that. */
  get isAsking(): boolean {
    return this.#open > 0
  }

  async ask(params: ElicitRequestParams, signal: AbortSignal): Promise<ElicitResult> {
    this.#open++
    const turn = this.#last.then(async (): Promise<Elicited> => {
      return signal.aborted ? { action: 'cancel' } : this.#elicit(questionOf(params), signal)
    })
    this.#last = turn.catch(() => undefined)
    try {
      const answer = await turn
      if (answer.action !== 'accept') return { action: answer.action }
      return { action: 'accept', ...(answer.content !== undefined && { content: { ...answer.content } }) }
    } finally {
      this.#open--
    }
  }
}

/** A question as it came over the wire, as one of ours. */
function questionOf(params: ElicitRequestParams): Elicitation {
  const { message } = params
  if ('url' in params) return { mode: 'url', message, url: params.url }
  const schema: unknown = params.requestedSchema
  return { mode: 'form', message, schema: isRecord(schema) ? schema : {} }
}
