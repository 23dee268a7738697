import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** Message from an upstream. */
export type FromUpstream = { readonly name: string; readonly pid: number } | { readonly name: string; readonly listed: true }

/** Request to an upstream: add these tools one after another and announce each. */
export interface ToUpstream {
  readonly add: readonly string[]
  readonly gapMs: number
}

/** Start command of a server, in the common configuration format. */
export interface Command {
  readonly command: string
  readonly args: readonly string[]
}

const program = fileURLToPath(new URL('servers/upstream.js', import.meta.url))

interface Present {
  readonly pid: number
  readonly socket: Socket
}

/** Tracks the upstreams of a gateway: counts their tools/list requests and changes their tools. */
export class UpstreamSet implements AsyncDisposable {
  readonly names: readonly string[]
  readonly #each: number
  readonly #server = createServer((socket) => this.#met(socket))
  readonly #present = new Map<string, Present>()
  #lists = 0

  private constructor(count: number, each: number) {
    this.names = Array.from({ length: count }, (_, index) => `area${String(index).padStart(2, '0')}`)
    this.#each = each
  }

  /** Declares servers with a number of tools each; the gateway starts them. */
  static async of(count: number, each: number): Promise<UpstreamSet> {
    const set = new UpstreamSet(count, each)
    set.#server.listen(0, '127.0.0.1')
    await once(set.#server, 'listening')
    return set
  }

  get tools(): number {
    return this.names.length * this.#each
  }

  /** Total number of tools/list requests. */
  get lists(): number {
    return this.#lists
  }

  /** Start commands by name. */
  get commands(): Readonly<Record<string, Command>> {
    return Object.fromEntries(this.names.map((name) => [name, this.command(name)]))
  }

  command(name: string): Command {
    const { port } = this.#server.address() as AddressInfo
    return { command: process.execPath, args: [program, name, String(this.#each), String(port)] }
  }

  /** Returns the process id of an upstream once it has started. */
  pid(name: string): number | undefined {
    return this.#present.get(name)?.pid
  }

  /** Adds tools to an upstream. */
  add(name: string, add: readonly string[], gapMs = 0): void {
    this.#present.get(name)?.socket.write(`${JSON.stringify({ add, gapMs } satisfies ToUpstream)}\n`)
  }

  /** Closing the sockets stops the upstreams. */
  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    for (const { socket } of this.#present.values()) socket.destroy()
    await closed
  }

  #met(socket: Socket): void {
    socket.on('error', () => socket.destroy())
    createInterface({ input: socket }).on('line', (line) => {
      const message = JSON.parse(line) as FromUpstream
      if ('pid' in message) this.#present.set(message.name, { pid: message.pid, socket })
      else this.#lists++
    })
  }
}
