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

type Controller = ReadableStreamDefaultController<Uint8Array>

/** A stream of server-sent events. With an event store a client may read on after its connection broke. */
export class SseStream {
  readonly id: StreamId
  readonly #store: EventStore | undefined
  readonly #left: () => void
  #controller: Controller | undefined
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

  /**
   * The body for a client that begins to read; one that read before is cut off. `replayed` are events that the client has already.
   * What happens later to an earlier body does not concern this one.
   */
  open(replayed: ReadonlySet<string> = new Set()): ReadableStream<Uint8Array> {
    if (this.#controller !== undefined) this.#end(this.#controller)
    this.#replayed = replayed
    let own: Controller | undefined
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        own = controller
        this.#controller = controller
      },
      cancel: () => this.#release(own),
    })
    this.#keepAlive = setInterval(() => this.writeRaw(': keepalive\n\n'), keepAliveMs)
    if (typeof this.#keepAlive === 'object') this.#keepAlive.unref()
    return body
  }

  /** Writes text that is not an event of the protocol, or was stored before. */
  writeRaw(text: string): void {
    const controller = this.#controller
    try {
      controller?.enqueue(encoder.encode(text))
    } catch {
      this.#release(controller)
    }
  }

  /** Writes a message, and stores it where there is a store. */
  write(json: string): Promise<void> {
    const store = this.#store
    if (store === undefined) {
      this.writeRaw(eventOf(json))
      return Promise.resolve()
    }
    const written = this.#stored(store, json)
    this.#last = written.catch(() => undefined)
    return written
  }

  async #stored(store: EventStore, json: string): Promise<void> {
    await this.#last
    const id = await store.storeEvent(this.id, JSON.parse(json) as JSONRPCMessage)
    if (!this.#replayed.has(id)) this.writeRaw(eventOf(json, id))
  }

  /** Ends the connection when everything that was sent has been written. */
  close(): void {
    const controller = this.#controller
    if (this.#store === undefined) this.#end(controller)
    else void this.#last.then(() => this.#end(controller))
  }

  #end(controller: Controller | undefined): void {
    this.#release(controller)
    try {
      controller?.close()
    } catch {
      // The client closed it first.
    }
  }

  #release(controller: Controller | undefined): void {
    if (controller === undefined || this.#controller !== controller) return
    clearInterval(this.#keepAlive)
    this.#controller = undefined
    this.#left()
  }
}
