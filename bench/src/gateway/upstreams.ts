import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** What an upstream says of itself. */
export type FromUpstream = { readonly name: string; readonly pid: number } | { readonly name: string; readonly listed: true }

/** What an upstream is to do: add these tools, one after another, and announce each. */
export interface ToUpstream {
  readonly add: readonly string[]
  readonly gapMs: number
}

/** How a server is started, in the shape that everybody's configuration has. */
export interface Command {
  readonly command: string
  readonly args: readonly string[]
}

const program = fileURLToPath(new URL('servers/upstream.js', import.meta.url))

interface Present {
  readonly pid: number
  readonly socket: Socket
}

/** The servers behind a gateway, whoever started them: this knows of each, how often it was listed, and makes it change. */
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

  /** So many servers, each of so many tools, to be started by somebody else. */
  static async of(count: number, each: number): Promise<UpstreamSet> {
    const set = new UpstreamSet(count, each)
    set.#server.listen(0, '127.0.0.1')
    await once(set.#server, 'listening')
    return set
  }

  get tools(): number {
    return this.names.length * this.#each
  }

  /** How often any of them was asked for its tools. */
  get lists(): number {
    return this.#lists
  }

  /** How each is started, by its name. */
  get commands(): Readonly<Record<string, Command>> {
    return Object.fromEntries(this.names.map((name) => [name, this.command(name)]))
  }

  command(name: string): Command {
    const { port } = this.#server.address() as AddressInfo
    return { command: process.execPath, args: [program, name, String(this.#each), String(port)] }
  }

  /** The number of an upstream's process, once it is there. */
  pid(name: string): number | undefined {
    return this.#present.get(name)?.pid
  }

  /** Makes an upstream add tools. */
  add(name: string, add: readonly string[], gapMs = 0): void {
    this.#present.get(name)?.socket.write(`${JSON.stringify({ add, gapMs } satisfies ToUpstream)}\n`)
  }

  /** They end when nobody is there to be told. */
  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    for (const { socket } of this.#present.values()) socket.destroy()
    await closed
  }

  #met(socket: Socket): void {
    socket.on('error', () => socket.destroy())
    createInterface({ input: socket }).on('line', (line) => {
      const said = JSON.parse(line) as FromUpstream
      if ('pid' in said) this.#present.set(said.name, { pid: said.pid, socket })
      else this.#lists++
    })
  }
}
