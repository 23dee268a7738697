import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { anthropic } from './anthropic.ts'
import { chat } from './chat.ts'
import { gemini } from './gemini.ts'
import type { Action, ModelRequest, Wire } from './neutral.ts'
import { responses } from './responses.ts'
import { sampleOf } from './sample.ts'

/** Wire formats by name. */
export const wires = { anthropic, responses, chat, gemini } satisfies { readonly [name: string]: Wire }

/** Returns the next action of the model, from the request and the number of the turn, starting at 0. */
export type Agent = (request: ModelRequest, turn: number) => Action | Promise<Action>

/** One request handled by the agent. */
export interface Turn {
  readonly request: ModelRequest
  readonly action: Action
}

/** A loopback model endpoint that runs a scripted agent in every wire format. */
export class Endpoint implements AsyncDisposable {
  readonly turns: Turn[] = []
  /** Auxiliary requests: `POST /v1/messages (no tools)`. They count neither as turns nor as bytes. */
  readonly asides: string[] = []
  readonly #agent: Agent
  readonly #mark: string
  readonly #server = createServer((request, response) => void this.#answer(request, response))

  private constructor(agent: Agent, mark: string) {
    this.#agent = agent
    this.#mark = mark
  }

  /**
   * Starts listening. A request is a turn of the agent if it offers tools and its conversation contains `mark`. A text reply ends
   * the conversation; later requests are auxiliary, such as summaries.
   */
  static async open(agent: Agent, mark: string): Promise<Endpoint> {
    const endpoint = new Endpoint(agent, mark)
    endpoint.#server.listen(0, '127.0.0.1')
    await once(endpoint.#server, 'listening')
    return endpoint
  }

  /** `http://127.0.0.1:<port>`; the host appends a path. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await this.#handle(request, response)
    } catch (error) {
      response.writeHead(500, { 'content-type': 'application/json' }).end(JSON.stringify({ error: String(error) }))
      this.asides.push(`failed: ${String(error)}`)
    }
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const raw = Buffer.concat(chunks)
    const path = new URL(request.url ?? '/', 'http://lab').pathname
    const wire = Object.values(wires).find((each) => each.asks(path))
    if (wire === undefined || request.method !== 'POST') {
      this.asides.push(`${request.method} ${path}`)
      const reply = Object.values(wires)
        .map((each) => each.aside(path))
        .find((each) => each !== undefined)
      response.writeHead(reply === undefined ? 404 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(reply ?? {}))
      return
    }
    const body: unknown = JSON.parse(raw.toString())
    const read = wire.read(body, raw.length)
    const reply = wire.write(
      await this.#next(read, path),
      `lab${this.turns.length}_${this.asides.length}`,
      wire.isStreamed(path, body),
    )
    response.writeHead(200, { 'content-type': reply.type, 'cache-control': 'no-store' }).end(reply.body)
  }

  async #next(request: ModelRequest, path: string): Promise<Action> {
    const isOver = this.turns.at(-1)?.action.kind === 'say'
    const isAsked = request.messages.some((each) => each.kind === 'user' && each.text.includes(this.#mark))
    const isTurn = !isOver && isAsked && request.tools.length > 0
    if (!isTurn) {
      this.asides.push(`POST ${path} (${request.tools.length === 0 ? 'no tools' : 'another conversation'})`)
      const { replySchema } = request
      return { kind: 'say', text: replySchema === undefined ? 'Read a file' : JSON.stringify(sampleOf(replySchema)) }
    }
    const at = this.turns.length
    const action = await this.#agent(request, at)
    this.turns.push({ request, action })
    return action
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
