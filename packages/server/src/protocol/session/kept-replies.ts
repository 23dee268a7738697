import type { RequestId } from '@modelcontextprotocol/server'
import { isRecord } from '@unfold-mcp/core'
import type { SessionEvent, SessionStore } from '../../stores/session-store.ts'
import { lostResponse } from './lost-response.ts'
import { eventId, type ReplyPosition } from './reply-position.ts'
import { ResumedReply } from './resumed-reply.ts'

export interface KeptRepliesOptions {
  readonly store: SessionStore
  readonly session: string
  /** Whose share of the store the messages use. */
  readonly owner: string
  /** True for a stream whose requests run on this replica. */
  readonly isRunning: (stream: string) => boolean
}

/** A stream whose requests run on this replica. */
interface Written {
  index: number
  /** Pending until everything so far is stored. */
  stored: Promise<void>
  /** Replicas that continue the stream for the client. */
  readonly followers: Set<string>
}

/** Longer messages are not stored. */
const maxLength = 1_048_576

/** Stores the messages of reply streams of one session, and continues streams whose connection broke, here or on another replica. */
export class KeptReplies {
  readonly #options: KeptRepliesOptions
  readonly #written = new Map<string, Written>()
  readonly #resumed = new Map<string, Set<ResumedReply>>()

  constructor(options: KeptRepliesOptions) {
    this.#options = options
  }

  get isResuming(): boolean {
    return this.#resumed.size > 0
  }

  /** Stores a message. Returns the id of its event; `undefined` for one that is too long. */
  add(stream: string, json: string): string | undefined {
    const kept = json.length > maxLength ? substituteFor(json) : json
    if (kept === undefined) return undefined
    const { store, session, owner } = this.#options
    const written = this.#writtenOf(stream)
    const index = ++written.index
    // Not awaited: the client gets the message meanwhile. The store reports when it cannot be reached.
    const keeping = store.keep(session, { stream, index, json: kept, owner })
    written.stored = Promise.allSettled([written.stored, keeping]).then(() => this.#tell(stream, { kind: 'streamed', stream }))
    return eventId(stream, index)
  }

  /** Sends a message that is not stored to the replicas that continue the stream. */
  pass(stream: string, json: string): undefined {
    this.#tell(stream, { kind: 'streamed', stream, message: json })
  }

  /** All responses of a stream were sent. */
  async end(stream: string): Promise<void> {
    const written = this.#written.get(stream)
    if (written === undefined) return
    await written.stored
    this.#tell(stream, { kind: 'streamed', stream, isOver: true })
    this.#written.delete(stream)
  }

  /** Returns the rest of a stream: what the client has missed, and what follows. */
  resume(position: ReplyPosition): ReadableStream<Uint8Array> {
    const { store, session } = this.#options
    const { stream, replica } = position
    const resumed = new ResumedReply({
      position,
      kept: (after) => store.kept(session, stream, after),
      isWriterAlive: () => replica === store.replica || store.isAlive(replica),
      onEnd: () => this.#forget(stream, resumed),
    })
    this.#resumed.set(stream, (this.#resumed.get(stream) ?? new Set()).add(resumed))
    const body = resumed.open()
    this.#send({ kind: 'followed', stream, replica: store.replica }, replica)
    return body
  }

  onEvent(event: SessionEvent): void {
    if (event.kind === 'followed') this.#followed(event.stream, event.replica)
    else if (event.kind === 'streamed') for (const resumed of this.#resumed.get(event.stream) ?? []) resumed.onEvent(event)
  }

  /** Ends the connections of resumed streams. Their clients can resume again, on another replica. */
  close(): void {
    for (const all of [...this.#resumed.values()]) for (const resumed of [...all]) resumed.close()
  }

  #writtenOf(stream: string): Written {
    const existing = this.#written.get(stream)
    if (existing !== undefined) return existing
    const written: Written = { index: 0, stored: Promise.resolve(), followers: new Set() }
    this.#written.set(stream, written)
    return written
  }

  #followed(stream: string, replica: string): void {
    if (this.#written.has(stream) || this.#options.isRunning(stream)) this.#writtenOf(stream).followers.add(replica)
    else this.#send({ kind: 'streamed', stream, isOver: true }, replica)
  }

  #tell(stream: string, event: SessionEvent): void {
    for (const replica of this.#written.get(stream)?.followers ?? []) this.#send(event, replica)
  }

  #send(event: SessionEvent, replica: string): void {
    const { store, session } = this.#options
    if (replica === store.replica) this.onEvent(event)
    else store.send(session, event, replica).catch(() => undefined)
  }

  #forget(stream: string, resumed: ResumedReply): void {
    const all = this.#resumed.get(stream)
    all?.delete(resumed)
    if (all?.size === 0) this.#resumed.delete(stream)
  }
}

/** Returns a short error in place of a long response; `undefined` for another message. */
function substituteFor(json: string): string | undefined {
  const message: unknown = JSON.parse(json)
  if (!isRecord(message) || 'method' in message) return undefined
  const problem = `The connection broke, and the response (${json.length} characters) is too long to be sent again. The request was executed: check its effect before you repeat it.`
  return lostResponse(message.id as RequestId, problem)
}
