import { setTimeout as pause } from 'node:timers/promises'
import { type CallResult, exchange, type ListResult, readNotifications, textOf, untilAnswered } from './exchange.ts'

const revision = '2026-07-28'
const meta = {
  'io.modelcontextprotocol/protocolVersion': revision,
  'io.modelcontextprotocol/clientInfo': { name: 'history', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
}

/** A 2026-07-28 client with a `subscriptions/listen` stream. It may cache no list (`ttlMs` is 0), so it lists when it needs one. */
export class StatelessClient {
  notifications = 0
  /** True while its stream is open. */
  isListening = false
  readonly #url: string
  readonly #token: string
  readonly #stop = new AbortController()
  #id = 0

  constructor(url: string, token: string) {
    this.#url = url
    this.#token = token
  }

  close(): void {
    this.#stop.abort()
  }

  /** Lists until there is an answer. */
  list(): Promise<{ readonly tools: readonly string[]; readonly identity: string }> {
    return untilAnswered(() => this.listAt(this.#url))
  }

  async listAt(url: string): Promise<{ readonly tools: readonly string[]; readonly identity: string }> {
    const { tools, _meta } = (await this.#request('tools/list', {}, { url })) as ListResult
    return { tools: tools.map(({ name }) => name).toSorted(), identity: _meta['io.github.unfold-mcp/identity'] }
  }

  /** Returns the text of a result. */
  async call(name: string, args: object, options: RequestOptions = {}): Promise<string> {
    return textOf((await this.#request('tools/call', { name, arguments: args }, options)) as CallResult)
  }

  /** Makes a call that needs approval. Returns the `requestState` of the question. */
  async ask(name: string, args: object): Promise<string | undefined> {
    return ((await this.#request('tools/call', { name, arguments: args })) as CallResult).requestState
  }

  /** Repeats a call with the approval of its user. */
  async approve(name: string, args: object, requestState: string): Promise<string> {
    const inputResponses = { approval: { action: 'accept', content: { decision: 'Allow once' } } }
    return textOf((await this.#request('tools/call', { name, arguments: args, requestState, inputResponses })) as CallResult)
  }

  /** Keeps a stream open until it is closed. */
  async listen(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        const reply = await fetch(this.#url, {
          method: 'POST',
          headers: {
            ...this.#headers('subscriptions/listen'),
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
            connection: 'close',
          },
          body: JSON.stringify({
            jsonrpc: '2.0',
            id: ++this.#id,
            method: 'subscriptions/listen',
            params: { notifications: { toolsListChanged: true }, _meta: meta },
          }),
          signal: this.#stop.signal,
        })
        this.isListening = reply.ok
        await readNotifications(reply, () => {
          this.notifications++
        })
      } catch {
        // It connects again.
      }
      this.isListening = false
      await pause(50)
    }
  }

  async #request(
    method: string,
    params: CallParams | Record<string, never>,
    { url = this.#url, timeoutMs }: RequestOptions = {},
  ) {
    const body = { id: ++this.#id, method, params: { ...params, _meta: meta } }
    const headers = this.#headers(method, params.name)
    return (await exchange({ url, headers, body, signal: this.#stop.signal, timeoutMs })).message?.result
  }

  #headers(method: string, name?: string): Record<string, string> {
    return {
      authorization: `Bearer ${this.#token}`,
      'mcp-protocol-version': revision,
      'mcp-method': method,
      ...(name !== undefined && { 'mcp-name': name }),
    }
  }
}

interface CallParams {
  readonly name: string
  readonly arguments: object
  readonly requestState?: string
  readonly inputResponses?: object
}

interface RequestOptions {
  readonly url?: string
  readonly timeoutMs?: number | undefined
}
