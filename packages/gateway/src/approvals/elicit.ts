import type { ElicitParams } from '@unfold-mcp/server'
import type { ProxiedCall } from '../middleware/chain.ts'

/** True if the client can show forms. Clients of earlier revisions declare only `elicitation`, which means forms. */
export function canElicit({ ctx }: ProxiedCall): boolean {
  const { elicitation } = ctx.client?.capabilities ?? {}
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)
}

export interface AskUserOptions {
  readonly timeoutMs: number
  readonly answered: (response: unknown) => Promise<unknown>
  /** Called if the client cannot ask its user after all. */
  readonly failed: () => void
}

/** A form at the client of a session. */
export interface OpenForm {
  readonly isOpen: boolean
  /** Withdraws the form. */
  close(): void
}

/** Shows a form to the user of a session's client. */
export function askUser({ ctx }: ProxiedCall, params: ElicitParams, { timeoutMs, answered, failed }: AskUserOptions): OpenForm {
  const stop = new AbortController()
  const signal = AbortSignal.any([stop.signal, ctx.signal])
  let isOpen = true
  const asking = ctx.client?.ask('elicitation/create', params, { signal, timeoutMs }) ?? Promise.reject(new Error('no client'))
  asking.then(answered).catch(() => {
    isOpen = false
    failed()
  })
  return {
    get isOpen() {
      return isOpen
    },
    close: () => stop.abort(),
  }
}
