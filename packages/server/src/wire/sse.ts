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

/** The text of an event. With an id, a client can resume its stream after it. */
export const eventOf = (json: string, id?: string): string =>
  `event: message\n${id === undefined ? '' : `id: ${id}\n`}data: ${json}\n\n`

/** An event without data, from which a client can resume. Clients before the revision 2025-11-25 do not expect it. */
export const primingOf = (id: string, retryMs?: number): string =>
  `id: ${id}\n${retryMs === undefined ? '' : `retry: ${retryMs}\n`}data: \n\n`

/** Stores the messages of one stream, for a client that resumes it. */
export interface EventLog {
  /** Resolves to the id of the event; `undefined` for a message that is not stored. */
  add(json: string): Promise<string | undefined>
  /** Called in place of `add` with a message that later ones replace. Default: it is stored too. */
  pass?(json: string): undefined
  /** Nothing more follows. */
  end?(): void
}

/** Stores the messages of a stream in an event store. */
export const logIn = (store: EventStore, stream: StreamId): EventLog => ({
  add: (json) => store.storeEvent(stream, JSON.parse(json) as JSONRPCMessage),
})

export interface SseOptions {
  readonly id: StreamId
  readonly log?: EventLog | undefined
  /** Called when the client stops reading. */
  readonly onDisconnect: () => void
}

// Shared: an empty set per stream would add up.
const noEvents: ReadonlySet<string> = new Set()

const queuing = new ByteLengthQueuingStrategy({ highWaterMark: maxUnreadBytes })

type Controller = ReadableStreamDefaultController<Uint8Array>

/** A stream of server-sent events; resumable if it has a log. */
export class SseStream {
  readonly id: StreamId
  #log: EventLog | undefined
  readonly #onDisconnect: () => void
  #controller: Controller | undefined
  #keepAlive: ReturnType<typeof setInterval> | undefined
  /** Keeps events in order, however long the log takes for each. */
  #lastWrite: Promise<void> = Promise.resolve()
  #replayed = noEvents

  constructor({ id, log, onDisconnect }: SseOptions) {
    this.id = id
    this.#log = log
    this.#onDisconnect = onDisconnect
  }

  get isOpen(): boolean {
    return this.#controller !== undefined
  }

  set log(log: EventLog) {
    this.#log = log
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
      queuing,
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

  /** Writes a message, and stores it if there is a log. `isTransient`: later messages replace it. */
  write(json: string, isTransient = false): Promise<void> {
    const log = this.#log
    if (log === undefined) {
      this.writeRaw(eventOf(json))
      return Promise.resolve()
    }
    const written = this.#logAndWrite(log, json, isTransient)
    this.#lastWrite = written.catch(() => undefined)
    return written
  }

  async #logAndWrite(log: EventLog, json: string, isTransient: boolean): Promise<void> {
    await this.#lastWrite
    const id = isTransient && log.pass !== undefined ? log.pass(json) : await log.add(json)
    if (id === undefined || !this.#replayed.has(id)) this.writeRaw(eventOf(json, id))
  }

  /** Ends the connection after all pending writes. */
  close(): void {
    const controller = this.#controller
    const log = this.#log
    if (log === undefined) this.#end(controller)
    else void this.#endAfterWrites(controller, log)
  }

  async #endAfterWrites(controller: Controller | undefined, log: EventLog): Promise<void> {
    await this.#lastWrite
    this.#end(controller)
    log.end?.()
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
