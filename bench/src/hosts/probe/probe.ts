import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { createMcpHandler, Server } from '@modelcontextprotocol/server'
import { grownTool, marks, probeTools, ruler, rulerLength } from './tools.ts'

// A host that re-lists does so within milliseconds, but the machine may be busy.
const relistTimeoutMs = 3_000
const pollIntervalMs = 20

/** A message from a host. */
export interface ClientMessage {
  readonly method?: string
  readonly params?: {
    readonly protocolVersion?: string
    readonly clientInfo?: { readonly name: string; readonly version: string }
    readonly capabilities?: object
    readonly _meta?: { readonly [key: string]: unknown }
  }
}

/** A server for both eras, without a gateway, that records the messages of hosts and has tools that reveal host behaviour. */
export class Probe implements AsyncDisposable {
  readonly messages: ClientMessage[] = []
  // Number of messages when the new tool appeared.
  #grownAt = Number.POSITIVE_INFINITY
  readonly #handler = createMcpHandler(() => this.#probeServer())
  readonly #server = createServer((request, response) => void this.#answer(request, response))

  private constructor() {}

  static async open(): Promise<Probe> {
    const probe = new Probe()
    probe.#server.listen(0, '127.0.0.1')
    await once(probe.#server, 'listening')
    return probe
  }

  /** Clears the recorded messages. */
  forget(): void {
    this.messages.length = 0
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/mcp`
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    if (body !== '') this.messages.push(JSON.parse(body) as ClientMessage)
    const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)])
    const reply = await this.#handler.fetch(
      new Request(new URL(request.url ?? '/', this.url), {
        method: request.method ?? 'GET',
        headers,
        ...(body !== '' && { body }),
      }),
    )
    response.writeHead(reply.status, Object.fromEntries(reply.headers))
    if (reply.body !== null) for await (const chunk of reply.body) response.write(chunk)
    response.end()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handler.close()
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  /** Waits until the host has requested the list with the new tool; only briefly, because some hosts never do. */
  async #listedAgain(): Promise<void> {
    const isListed = (): boolean => this.messages.slice(this.#grownAt).some(({ method }) => method === 'tools/list')
    for (let waited = 0; waited < relistTimeoutMs && !isListed(); waited += pollIntervalMs) await pause(pollIntervalMs)
  }

  #probeServer(): Server {
    const server = new Server(
      { name: 'probe', version: '1.0.0' },
      { capabilities: { tools: { listChanged: true } }, instructions: `probe-instructions ${ruler(rulerLength)}` },
    )
    server.setRequestHandler('tools/list', () => ({
      tools: [...probeTools, ...(this.#grownAt < Number.POSITIVE_INFINITY ? [grownTool] : [])],
    }))
    server.setRequestHandler('tools/call', async ({ params: { name } }, context) => {
      if (name === 'grow') {
        this.#grownAt = this.messages.length
        this.#handler.notify.toolsChanged()
        // In a session the notification is sent on the stream of the call, so that no host receives it after the reply.
        await context.mcpReq.notify({ method: 'notifications/tools/list_changed' }).catch(() => undefined)
        await this.#listedAgain()
      }
      return {
        content: [{ type: 'text', text: name === 'both' ? marks.text : `${name}: done` }],
        ...(name === 'both' && { structuredContent: { mark: marks.structured } }),
      }
    })
    return server
  }
}
