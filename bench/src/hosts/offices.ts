import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { descriptions, type LabServer, serverNames } from './catalogue.ts'

/** Message from an upstream server to the lab. */
export type FromOffice =
  | { readonly kind: 'started'; readonly server: string; readonly pid: number }
  // The changed list was requested.
  | { readonly kind: 'listed' }
  | { readonly kind: 'called'; readonly server: string; readonly tool: string; readonly arguments: Record<string, unknown> }

/** Request to an upstream server: add one tool, or describe one differently, and announce it. */
export type ToOffice =
  | { readonly kind: 'add' }
  | { readonly kind: 'describe'; readonly tool: string; readonly description: string }

export type OfficeCall = Extract<FromOffice, { readonly kind: 'called' }>

// Tests import this file from src, but Node 20 cannot run TypeScript servers.
const program = fileURLToPath(new URL('../../dist/hosts/servers/office.js', import.meta.url))

/** Tracks the upstream servers of the gateway under test: records their calls and changes their tools. */
export class Offices implements AsyncDisposable {
  readonly calls: OfficeCall[] = []
  readonly #server = createServer((socket) => this.#met(socket))
  readonly #sockets = new Map<Socket, string>()
  // Servers whose new list has not been requested yet.
  readonly #waiting = new Map<Socket, () => void>()

  private constructor() {}

  static async open(): Promise<Offices> {
    const offices = new Offices()
    offices.#server.listen(0, '127.0.0.1')
    await once(offices.#server, 'listening')
    return offices
  }

  /** Returns `mcpServers` for a gateway. `count` limits the number of tools per server. */
  config({ servers = serverNames, count = 100 }: { readonly servers?: readonly LabServer[]; readonly count?: number } = {}): {
    readonly [server: string]: object
  } {
    const { port } = this.#server.address() as AddressInfo
    const entry = (name: LabServer): object => ({
      command: process.execPath,
      args: [program, name, String(count), String(port)],
      description: descriptions[name],
    })
    return Object.fromEntries(servers.map((name) => [name, entry(name)]))
  }

  /** Adds one tool to every running instance of a server; resolves when the gateway has re-listed each of them. */
  addTool(server: LabServer): Promise<void> {
    return this.#change(server, { kind: 'add' })
  }

  /** Describes a tool differently in every running instance of a server; resolves when the gateway has re-listed each of them. */
  describeTool(server: LabServer, tool: string, description: string): Promise<void> {
    return this.#change(server, { kind: 'describe', tool, description })
  }

  async #change(server: LabServer, message: ToOffice): Promise<void> {
    const own = [...this.#sockets].filter(([, name]) => name === server).map(([socket]) => socket)
    const listed = own.map((socket) => new Promise<void>((resolve) => this.#waiting.set(socket, resolve)))
    for (const socket of own) socket.write(`${JSON.stringify(message)}\n`)
    await Promise.all(listed)
  }

  #met(socket: Socket): void {
    socket.on('error', () => undefined).on('close', () => this.#sockets.delete(socket))
    createInterface({ input: socket }).on('line', (line) => {
      const message = JSON.parse(line) as FromOffice
      if (message.kind === 'started') this.#sockets.set(socket, message.server)
      else if (message.kind === 'called') this.calls.push(message)
      else this.#waiting.get(socket)?.()
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets.keys()) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
