import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { descriptions, type LabServer, serverNames } from './catalogue.ts'

/** What a server behind the gateway reports to the lab. */
export type FromOffice =
  | { readonly kind: 'started'; readonly server: string; readonly pid: number }
  // The list that includes the added tool was read.
  | { readonly kind: 'listed' }
  | { readonly kind: 'called'; readonly server: string; readonly tool: string; readonly arguments: Record<string, unknown> }

/** What the lab asks such a server to do: list one more tool and announce it. */
export interface ToOffice {
  readonly kind: 'add'
}

export type OfficeCall = Extract<FromOffice, { readonly kind: 'called' }>

// Tests import this file from src, where a server cannot run: Node 20 does not read TypeScript.
const program = fileURLToPath(new URL('../../dist/hosts/servers/office.js', import.meta.url))

/** The servers behind the gateway under test, whoever starts them: records every call they receive and makes them change. */
export class Offices implements AsyncDisposable {
  readonly calls: OfficeCall[] = []
  readonly #server = createServer((socket) => this.#met(socket))
  readonly #sockets = new Map<Socket, string>()
  // Those whose new list has not been read yet.
  readonly #waiting = new Map<Socket, () => void>()

  private constructor() {}

  static async open(): Promise<Offices> {
    const offices = new Offices()
    offices.#server.listen(0, '127.0.0.1')
    await once(offices.#server, 'listening')
    return offices
  }

  /** `mcpServers` of a gateway in front of them. `count` limits how many tools each has. */
  config({
    servers = serverNames,
    count = 100,
  }: {
    readonly servers?: readonly LabServer[]
    readonly count?: number
  } = {}): object {
    const { port } = this.#server.address() as AddressInfo
    const entry = (name: LabServer): object => ({
      command: process.execPath,
      args: [program, name, String(count), String(port)],
      description: descriptions[name],
    })
    return Object.fromEntries(servers.map((name) => [name, entry(name)]))
  }

  /** Makes every running instance of a server list one more tool; resolves when each has been listed since, so that the gateway knows it. */
  async addTool(server: LabServer): Promise<void> {
    const message: ToOffice = { kind: 'add' }
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
