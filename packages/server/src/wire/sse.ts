import type { EventStore, JSONRPCMessage, StreamId } from '@modelcontextprotocol/server'

// Proxies close connections that stay silent for long.
const keepAliveMs = 15_000

/** A client that leaves more than this unread is disconnected. */
export const maxUnreadBytes = 16 * 1024 * 1024

const encoder = new TextEncoder()

export const sseHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const

const eventOf = (json: string, id?: string): string => `event: message\n${id === undefined ? '' : `id: ${id}\n`}data: ${json}\n\n`

export interface SseOptions {
  readonly id: StreamId
  /** Stores the events, so that a client can resume after its connection broke. */
  readonly store?: EventStore | undefined
  /** Called when the client stops reading. */
  readonly onDisconnect: () => void
}

// Shared: an empty set per stream would add up.
const noEvents: ReadonlySet<string> = new Set()

type Controller = ReadableStreamDefaultController<Uint8Array>

/** A stream of server-sent events; resumable if it has an event store. */
export class SseStream {
  readonly id: StreamId
  readonly #store: EventStore | undefined
  readonly #onDisconnect: () => void
  #controller: Controller | undefined
  #keepAlive: ReturnType<typeof setInterval> | undefined
  /** Keeps events in order, however long the store takes for each. */
  #lastWrite: Promise<void> = Promise.resolve()
  #replayed = noEvents

  constructor({ id, store, onDisconnect }: SseOptions) {
    this.id = id
    this.#store = store
    this.#onDisconnect = onDisconnect
  }

  get isOpen(): boolean {
    return this.#controller !== undefined
  }

  /**
   * Returns the body for a client, and ends an earlier one. Events in `replayed` are not written again. Cancelling an earlier
   * body does not affect this one.
   */
  open(replayed = noEvents): ReadableStream<Uint8Array> {
    if (this.#controller !== undefined) this.#end(this.#controller)
    this.#replayed = replayed
    let own: Controller | undefined
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          own = controller
          this.#controller = controller
        },
        cancel: () => this.#release(own),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: maxUnreadBytes }),
    )
    this.#keepAlive = setInterval(() => this.writeRaw(': keepalive\n\n'), keepAliveMs)
    if (typeof this.#keepAlive === 'object') this.#keepAlive.unref()
    return body
  }

  /** Writes text that is not stored: a comment, or an event that is already stored. */
  writeRaw(text: string): void {
    const controller = this.#controller
    try {
      // The reader is slower than the writer: without an end, events would pile up in memory.
      if ((controller?.desiredSize ?? 0) < 0) throw new Error('The client does not read its stream.')
      controller?.enqueue(encoder.encode(text))
    } catch (error) {
      this.#release(controller)
      controller?.error(error)
    }
  }

  /** Writes a message, and stores it if there is a store. */
  write(json: string): Promise<void> {
    const store = this.#store
    if (store === undefined) {
      this.writeRaw(eventOf(json))
      return Promise.resolve()
    }
    const written = this.#storeAndWrite(store, json)
    this.#lastWrite = written.catch(() => undefined)
    return written
  }

  async #storeAndWrite(store: EventStore, json: string): Promise<void> {
    await this.#lastWrite
    const id = await store.storeEvent(this.id, JSON.parse(json) as JSONRPCMessage)
    if (!this.#replayed.has(id)) this.writeRaw(eventOf(json, id))
  }

  /** Ends the connection after all pending writes. */
  close(): void {
    const controller = this.#controller
    if (this.#store === undefined) this.#end(controller)
    else void this.#lastWrite.then(() => this.#end(controller))
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
    this.#onDisconnect()
  }
}
