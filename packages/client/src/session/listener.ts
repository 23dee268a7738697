import type { McpSubscription, SubscriptionFilter } from '@modelcontextprotocol/client'
import { ClientError } from '../errors/errors.ts'
import { asClientError } from '../errors/translation.ts'
import { type Clock, pause } from '../time/clock.ts'
import type { Link } from './session.ts'

export interface ListeningOptions {
  /** The link there is, or a new one. */
  readonly link: () => Promise<Link>
  /** What to listen for, by what the server can tell. */
  readonly filter: (link: Link) => SubscriptionFilter
  readonly clock: Clock
  readonly timeoutMs: number
  /** Told each time it begins to hear: what was said before is lost. */
  readonly onOpen: () => void
  /** Told each time it ends without having been stopped. */
  readonly onClosed: () => void
  readonly onWarning: (warning: string) => void
}

const retryMs = { first: 100, most: 5_000 }
// One that breaks sooner has not recovered.
const steadyMs = 5_000

/** Why it could not be listened, and whether asking again would be answered in the same way. */
interface Failed {
  readonly failure: ClientError
  readonly isRefused: boolean
}

/** Listens for changes as 2026-07-28 has it, and begins again whenever that ends. */
export class Listening {
  readonly #options: ListeningOptions
  readonly #over = new AbortController()
  #open: McpSubscription | undefined

  constructor(options: ListeningOptions) {
    this.#options = options
  }

  /** Whether a change of the tools would be heard of. */
  get hears(): boolean {
    return this.#open?.honoredFilter.toolsListChanged === true
  }

  /** Begins. Resolves when it hears, or with why the first attempt failed. */
  start(): Promise<ClientError | undefined> {
    return new Promise((resolve) => {
      void this.#run(resolve).finally(() => resolve(undefined))
    })
  }

  /** Ends it, and tells the server. */
  async stop(): Promise<void> {
    const open = this.#open
    this.#open = undefined
    this.#over.abort()
    await open?.close().catch(() => undefined)
  }

  async #run(tried: (failure?: ClientError) => void): Promise<void> {
    const { clock, onWarning } = this.#options
    let waitMs = retryMs.first
    while (!this.#over.signal.aborted) {
      const since = clock.now()
      const failed = await this.#listen(tried)
      tried(failed?.failure)
      if (failed?.isRefused === true) {
        onWarning('The server does not say when its tools change; it is asked from time to time instead.')
        return
      }
      if (clock.now() - since > steadyMs) waitMs = retryMs.first
      await pause(clock, waitMs, this.#over.signal)
      waitMs = Math.min(waitMs * 2, retryMs.most)
    }
  }

  /** Listens once, until that ends; why it could not, where it could not. */
  async #listen(opened: () => void): Promise<Failed | undefined> {
    let link: Link | undefined
    try {
      link = await this.#options.link()
      const open = await link.client.listen(this.#options.filter(link), { timeout: this.#options.timeoutMs })
      if (Object.keys(open.honoredFilter).length === 0) {
        await open.close()
        return { failure: toldOfNothing(link.label), isRefused: true }
      }
      if (this.#over.signal.aborted) {
        await open.close()
        return undefined
      }
      this.#open = open
      this.#options.onOpen()
      opened()
      await open.closed
      if (!this.#over.signal.aborted) this.#options.onClosed()
      return undefined
    } catch (error) {
      // Without a link there was nobody who could have refused.
      if (link === undefined)
        return { failure: asClientError(error, { target: 'the server', what: 'Listening' }), isRefused: false }
      const failure = link.translated(error, `Listening to ${link.label}`)
      return { failure, isRefused: isRefusal(failure) }
    } finally {
      this.#open = undefined
    }
  }
}

function toldOfNothing(label: string): ClientError {
  const problem = `${label} tells of nothing that it was asked for.`
  return new ClientError('protocol', `${problem} Ask it from time to time instead.`, { problem })
}

const isRefusal = ({ reason }: ClientError): boolean => reason === 'protocol' || reason === 'login_required'
