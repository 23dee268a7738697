import type { EventStore, JSONRPCMessage, StreamId } from '@modelcontextprotocol/server'

// Proxies may take a long silence for the end of a connection.
const keepAliveMs = 15_000

const encoder = new TextEncoder()

export const sseHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const

/** A message as a server-sent event. */
const eventOf = (json: string, id?: string): string => `event: message\n${id === undefined ? '' : `id: ${id}\n`}data: ${json}\n\n`

export interface SseOptions {
  readonly id: StreamId
  /** Keeps the events, so that a client whose connection broke can read what it missed. */
  readonly store?: EventStore | undefined
  /** Called whenever nobody reads the stream any more. */
  readonly left: () => void
}

/** A stream of server-sent events. With an event store a client may read on after its connection broke. */
export class SseStream {
  readonly id: StreamId
  readonly #store: EventStore | undefined
  readonly #left: () => void
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  #keepAlive: ReturnType<typeof setInterval> | undefined
  /** Events are written in the order in which they were sent, however long the store takes for each. */
  #last: Promise<void> = Promise.resolve()
  #replayed: ReadonlySet<string> = new Set()

  constructor({ id, store, left }: SseOptions) {
    this.id = id
    this.#store = store
    this.#left = left
  }

  /** Whether somebody reads it. */
  get isOpen(): boolean {
    return this.#controller !== undefined
  }

  /** The body for a client that begins to read. `replayed` are events that it has read already. */
  open(replayed: ReadonlySet<string> = new Set()): ReadableStream<Uint8Array> {
    this.#replayed = replayed
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller
      },
      cancel: () => this.#release(),
    })
    this.#keepAlive = setInterval(() => this.#enqueue(': keepalive\n\n'), keepAliveMs)
    if (typeof this.#keepAlive === 'object') this.#keepAlive.unref()
    return body
  }

  /** Writes text that is not an event of the protocol. */
  writeRaw(text: string): void {
    this.#enqueue(text)
  }

  /** Writes a message, and stores it where there is a store. */
  write(message: JSONRPCMessage, json = JSON.stringify(message)): Promise<void> {
    const store = this.#store
    if (store === undefined) {
      this.#enqueue(eventOf(json))
      return Promise.resolve()
    }
    const written = this.#stored(store, message, json)
    this.#last = written.catch(() => undefined)
    return written
  }

  async #stored(store: EventStore, message: JSONRPCMessage, json: string): Promise<void> {
    await this.#last
    const id = await store.storeEvent(this.id, message)
    if (!this.#replayed.has(id)) this.#enqueue(eventOf(json, id))
  }

  /** Ends the connection when everything that was sent has been written. */
  close(): void {
    if (this.#store === undefined) this.#end()
    else void this.#last.then(() => this.#end())
  }

  #end(): void {
    const controller = this.#controller
    this.#release()
    try {
      controller?.close()
    } catch {
      // The client closed it first.
    }
  }

  #enqueue(text: string): void {
    try {
      this.#controller?.enqueue(encoder.encode(text))
    } catch {
      this.#release()
    }
  }

  #release(): void {
    clearInterval(this.#keepAlive)
    if (this.#controller === undefined) return
    this.#controller = undefined
    this.#left()
  }
}
