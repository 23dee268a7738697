import { printable } from '@unfold-mcp/core'
import { errorMessage } from '../../base/error-message.ts'
import type { Gateway } from '../../gateway/gateway.ts'
import type { Journal } from '../../observability/journal.ts'
import type { StartSignIn } from '../../upstreams/sign-in.ts'

export type { StartSignIn } from '../../upstreams/sign-in.ts'

/** Sign-ins to servers that were started on the dashboard. */
export class ServerSignIns {
  readonly #gateway: Gateway
  readonly #journal: Journal
  readonly #start: StartSignIn
  readonly #running = new Map<string, AbortController>()

  constructor(gateway: Gateway, journal: Journal, start: StartSignIn) {
    this.#gateway = gateway
    this.#journal = journal
    this.#start = start
  }

  /** Returns the address where the user signs in, or `undefined` if the server does not need it. The end is reported in the log. */
  begin(name: string, by: string): Promise<URL> | undefined {
    const server = this.#gateway.config.mcpServers[name]
    if (server === undefined || !('url' in server) || this.#gateway.upstreams.get(name)?.state !== 'needs_login') return undefined
    // A second attempt replaces the first: its tab may have been closed.
    this.#running.get(name)?.abort()
    const abort = new AbortController()
    this.#running.set(name, abort)
    const { signal } = abort
    return new Promise((resolve, reject) => {
      this.#start({ name: printable(name), url: server.url, show: resolve, signal }).then(
        () => this.#succeeded(name, by),
        (error: unknown) => {
          reject(error)
          if (!signal.aborted) this.#log('warn', name, errorMessage(error))
        },
      )
    })
  }

  close(): void {
    for (const abort of this.#running.values()) abort.abort()
  }

  #succeeded(name: string, by: string): void {
    this.#log('info', name, `signed in to ${printable(name)} (${by})`)
    // Other servers may share the sign-in.
    const { upstreams } = this.#gateway
    for (const each of upstreams.names) if (upstreams.get(each)?.state === 'needs_login') upstreams.restart(each)
  }

  #log(level: 'info' | 'warn', upstream: string, message: string): void {
    this.#journal.write('log', { level, message, upstream, data: { event: 'sign_in' } })
  }
}
