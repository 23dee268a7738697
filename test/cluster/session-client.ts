import { setTimeout as pause } from 'node:timers/promises'
import {
  type CallResult,
  exchange,
  type ListResult,
  type Received,
  readNotifications,
  textOf,
  untilAnswered,
} from './exchange.ts'

/**
 * A session-era client that behaves as hosts do: it keeps its stream open, and lists again after every notification. Each request
 * uses a connection of its own.
 */
export class SessionClient {
  /** The tools that it knows from its last list. */
  known: readonly string[] = []
  /** The identity of its last list. */
  identity = ''
  notifications = 0
  readonly #url: string
  readonly #token: string
  readonly #stop = new AbortController()
  #session = ''
  #id = 0
  #listing: Promise<unknown> = Promise.resolve()
  #listsAgain = false

  constructor(url: string, token: string) {
    this.#url = url
    this.#token = token
  }

  async open(): Promise<void> {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'history', version: '1.0.0' } }
    await untilAnswered(async () => {
      const reply = await this.#post({ method: 'initialize', id: ++this.#id, params })
      this.#session = reply.session ?? ''
    })
    await untilAnswered(() => this.#post({ method: 'notifications/initialized' }))
    void this.#listen()
    await this.list()
  }

  close(): void {
    this.#stop.abort()
  }

  get session(): string {
    return this.#session
  }

  /** Resolves when it has nothing more to list. */
  async idle(): Promise<void> {
    await this.#listing
  }

  /** Lists until there is an answer: a list has no effect. */
  list(): Promise<readonly string[]> {
    return untilAnswered(async () => {
      const { tools, _meta } = (await this.#request('tools/list', {})) as ListResult
      this.known = tools.map(({ name }) => name).toSorted()
      this.identity = _meta['io.github.unfold-mcp/identity']
      return this.known
    })
  }

  /** The identity of its list at one replica, which does not count as a list. */
  async identityAt(port: number): Promise<string> {
    const { message } = await this.#post(
      { id: ++this.#id, method: 'server/identity', params: {} },
      { url: `http://127.0.0.1:${port}/mcp` },
    )
    return (message?.result as { readonly server_id: string } | undefined)?.server_id ?? 'unknown'
  }

  /** Returns the text of a result. Throws `Unknown`, `Refused` or `Lost`. */
  async call(name: string, args: object = {}, timeoutMs?: number): Promise<string> {
    return textOf((await this.#request('tools/call', { name, arguments: args }, timeoutMs)) as CallResult)
  }

  async #request(method: string, params: object, timeoutMs?: number): Promise<unknown> {
    return (await this.#post({ id: ++this.#id, method, params }, { timeoutMs })).message?.result
  }

  async #post(
    body: object,
    { url = this.#url, timeoutMs }: { readonly url?: string; readonly timeoutMs?: number | undefined } = {},
  ): Promise<Received> {
    const received = await exchange({ url, headers: this.#headers(), body, signal: this.#stop.signal, timeoutMs })
    if (received.messages.some(({ method }) => method === 'notifications/tools/list_changed')) this.#notified()
    return received
  }

  async #listen(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        const headers = { ...this.#headers(), accept: 'text/event-stream', connection: 'close' }
        const reply = await fetch(this.#url, { headers, signal: this.#stop.signal })
        await readNotifications(reply, () => this.#notified())
      } catch {
        // It connects again.
      }
      await pause(50)
    }
  }

  #notified(): void {
    this.notifications++
    if (this.#listsAgain) return
    this.#listsAgain = true
    this.#listing = this.#listAfter(this.#listing)
  }

  async #listAfter(last: Promise<unknown>): Promise<void> {
    await last
    this.#listsAgain = false
    await this.list().catch(() => undefined)
  }

  #headers(): Record<string, string> {
    const session = this.#session === '' ? undefined : { 'mcp-session-id': this.#session, 'mcp-protocol-version': '2025-11-25' }
    return { authorization: `Bearer ${this.#token}`, ...session }
  }
}
