import { setTimeout as pause } from 'node:timers/promises'

/** A request had no reply, so it may have had its effect. */
export class Unknown extends Error {}

/** The gateway refused a request without an effect. */
export class Refused extends Error {}

/** The session no longer exists. */
export class Lost extends Error {}

const requestTimeoutMs = 20_000
const base = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

interface Message {
  readonly id?: number
  readonly method?: string
  readonly result?: unknown
  readonly error?: { readonly message: string }
}

interface ListResult {
  readonly tools: readonly { readonly name: string }[]
  readonly _meta: { readonly 'io.github.unfold-mcp/identity': string }
}

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

  /** Resolves when it has nothing more to list. */
  async idle(): Promise<void> {
    await this.#listing
  }

  /** Lists until there is an answer: a list has no effect. */
  list(): Promise<readonly string[]> {
    return untilAnswered(async () => {
      const { tools, _meta } = (await this.request('tools/list', {})) as ListResult
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
  async call(name: string, args: object = {}, timeoutMs = requestTimeoutMs): Promise<string> {
    const { content, isError } = (await this.request('tools/call', { name, arguments: args }, timeoutMs)) as {
      readonly content: readonly { readonly text?: string }[]
      readonly isError?: boolean
    }
    const text = content.map((block) => block.text ?? '').join('\n')
    if (isError === true) throw text.includes('effect is unknown') ? new Unknown(text) : new Refused(text)
    return text
  }

  async request(method: string, params: object, timeoutMs = requestTimeoutMs): Promise<unknown> {
    const { message } = await this.#post({ id: ++this.#id, method, params }, { timeoutMs })
    if (message?.error !== undefined) throw new Refused(message.error.message)
    return message?.result
  }

  async #post(
    body: object,
    { url = this.#url, timeoutMs = requestTimeoutMs }: { readonly url?: string; readonly timeoutMs?: number } = {},
  ): Promise<{ readonly message: Message | undefined; readonly session: string | null }> {
    const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(timeoutMs)])
    let status: number
    let text: string
    let session: string | null
    try {
      const reply = await fetch(url, {
        method: 'POST',
        headers: this.#headers(),
        body: JSON.stringify({ jsonrpc: '2.0', ...body }),
        signal,
      })
      status = reply.status
      session = reply.headers.get('mcp-session-id')
      text = await reply.text()
    } catch (error) {
      throw new Unknown(String(error))
    }
    if (status === 404) throw new Lost(`${JSON.stringify(body).slice(0, 80)}: ${text}`)
    if (status === 502 || status === 503 || status === 429) throw new Refused(text)
    if (status >= 300) throw new Error(`HTTP ${status}: ${text}`)
    const messages = messagesIn(text)
    const message = messages.find(({ id }) => id === ('id' in body ? body.id : undefined))
    // The replica died before the response.
    if ('id' in body && message === undefined) throw new Unknown('The stream ended without a response.')
    if (messages.some(({ method }) => method === 'notifications/tools/list_changed')) this.#notified()
    return { message, session }
  }

  async #listen(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        const reply = await fetch(this.#url, { headers: this.#headers(), signal: this.#stop.signal })
        for await (const chunk of reply.body?.pipeThrough(new TextDecoderStream()) ?? [])
          if (chunk.includes('notifications/tools/list_changed')) this.#notified()
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
    return { ...base, authorization: `Bearer ${this.#token}`, connection: 'close', ...session }
  }
}

const maxAttempts = 200

async function untilAnswered<T>(attempt: () => Promise<T>): Promise<T> {
  for (let count = 1; ; count++) {
    try {
      return await attempt()
    } catch (error) {
      if (count === maxAttempts || !(error instanceof Unknown || error instanceof Refused)) throw error
      await pause(100)
    }
  }
}

function messagesIn(text: string): readonly Message[] {
  const data = text.startsWith('{') ? [text] : [...text.matchAll(/^data: (\{.*)$/gmu)].map(([, json]) => json ?? '')
  return data.map((json) => JSON.parse(json) as Message)
}
