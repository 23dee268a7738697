import type { JSONRPCMessage, LoggingLevel, RequestId } from '@modelcontextprotocol/server'
import { type Activation, Failure } from '@unfold-mcp/core'
import type { Scope } from '../../scope/scope.ts'
import type { SessionEvent, SessionRecord, SessionStore, StoredSession } from '../../stores/session-store.ts'
import { type EventLog, primingOf } from '../../wire/sse.ts'
import type { ReplyResumption } from '../reply-stream.ts'
import { KeptReplies } from './kept-replies.ts'
import { eventId, type ReplyPosition, replyStream } from './reply-position.ts'
import type { JSONRPCResponse, Replication } from './session-http.ts'

export interface SharedSessionOptions {
  readonly stored: StoredSession
  readonly idleMs: number
  readonly now: () => number
}

// Bounds how long a lost event has an effect.
const maxUncheckedMs = 30_000

// A client whose connection breaks earlier cannot resume: most calls finish sooner, and cost nothing more.
const silenceMs = 250
const maxStreamName = 1_024

/** This replica's copy of a session that others may serve too. */
export class SharedSession implements Replication {
  readonly #store: SessionStore
  readonly #id: string
  readonly #scope: Scope
  readonly #idleMs: number
  readonly #now: () => number
  readonly #ownsActivation: boolean
  #stored: StoredSession
  /** The latest version that is known to exist. */
  #latest: number
  /** When the copy was last known to be the latest; `undefined` if events were missed since. */
  #checkedAt: number | undefined
  /** True for a stream whose requests run on this replica. */
  isRunning: (stream: string) => boolean = () => false
  /** Created by the first stream that a client can resume. */
  #replies: KeptReplies | undefined

  constructor(store: SessionStore, id: string, scope: Scope, { stored, idleMs, now }: SharedSessionOptions) {
    this.#store = store
    this.#id = id
    this.#scope = scope
    this.#idleMs = idleMs
    this.#now = now
    this.#checkedAt = now()
    this.#stored = stored
    this.#latest = stored.version
    // The activation of a principal is shared and stored elsewhere.
    this.#ownsActivation = scope.state.key === scope.key
    this.#apply(stored)
    if (this.#ownsActivation) scope.state.stored = { update: (change) => this.#updateActivation(change) }
  }

  get record(): SessionRecord {
    return this.#stored.record
  }

  /** Fingerprint of the view that the client knows: it may have missed a notification, but not the list that it got. */
  get known(): string | undefined {
    return this.#stored.listed ?? this.#stored.announced
  }

  get version(): number {
    return this.#stored.version
  }

  /** True if this copy is known to be the latest. */
  get isCurrent(): boolean {
    if (!this.#store.isCurrent || this.#latest > this.#stored.version || this.#checkedAt === undefined) return false
    // A reload also extends the life of the session.
    return this.#now() - this.#checkedAt < Math.min(maxUncheckedMs, this.#idleMs / 4)
  }

  /** The client has its standalone stream open on another replica. */
  get isHeardElsewhere(): boolean {
    const { stream } = this.#stored
    return stream !== undefined && stream !== this.#store.replica && this.#store.isAlive(stream)
  }

  /** Another replica has stored this version. */
  invalidate(version: number): void {
    this.#latest = Math.max(this.#latest, version)
  }

  /** Events may have been missed. */
  suspect(): void {
    this.#checkedAt = undefined
  }

  /** Loads the latest state; false if the session has ended. Keeps the last known state while the store cannot be reached. */
  async refresh(): Promise<boolean> {
    this.#checkedAt = this.#now()
    try {
      const stored = await this.#store.load(this.#id, this.#idleMs)
      if (stored === undefined) return false
      this.#apply(stored)
    } catch {
      // The store reports it.
      this.#checkedAt = undefined
    }
    return true
  }

  /** Stores what a request has changed besides the activation. */
  async save(): Promise<void> {
    const { succeeded, order, neverRelists, logLevel } = this.#scope
    const { record } = this.#stored
    const isSame =
      record.succeeded.length === succeeded.size &&
      record.order.length === order.length &&
      record.order.every((name, index) => order[index] === name) &&
      record.neverRelists === neverRelists &&
      record.logLevel === logLevel
    if (isSame) return
    await this.change((current) => ({
      ...current,
      succeeded: [...new Set([...current.succeeded, ...succeeded])],
      order: [...order],
      neverRelists,
      logLevel,
    })).catch(() => undefined)
  }

  async change(change: (record: SessionRecord) => SessionRecord): Promise<void> {
    const stored = await this.#store.update(this.#id, this.#stored, change, this.#idleMs)
    if (stored !== undefined) this.#apply(stored)
  }

  /** Records what the client was last notified of. */
  markAnnounced(announced: string | undefined): void {
    this.#mark({ announced })
  }

  /** Records that this replica has the client's standalone stream, or no longer has it. */
  markListening(isListening: boolean): void {
    const { replica } = this.#store
    if (isListening) this.send({ kind: 'listening', replica })
    // Another replica may have taken over.
    else if (this.#stored.stream !== replica) return
    this.#mark({ stream: isListening ? replica : undefined })
  }

  noteStream(replica: string): void {
    this.#stored = { ...this.#stored, stream: replica }
  }

  send(event: SessionEvent, to?: string): void {
    this.#store.send(this.#id, event, to).catch(() => undefined)
  }

  async end(): Promise<void> {
    await this.#store.remove(this.#id)
  }

  uniqueId(id: RequestId): RequestId {
    return `${this.#store.replica}.${typeof id === 'number' ? 'n' : 's'}.${id}`
  }

  incoming(response: JSONRPCResponse): JSONRPCResponse | undefined {
    const [, replica, kind, id] = /^([^.]*)\.([ns])\.(.*)$/su.exec(String(response.id)) ?? []
    if (replica === undefined || id === undefined) return response
    if (replica === this.#store.replica) return { ...response, id: kind === 'n' ? Number(id) : id }
    this.send({ kind: 'message', message: response }, replica)
    return undefined
  }

  forward(message: JSONRPCMessage): void {
    this.send({ kind: 'message', message })
  }

  get standaloneEventId(): string {
    return `${this.#store.replica}.standalone`
  }

  get isResuming(): boolean {
    return this.#replies?.isResuming === true
  }

  resumption(ids: readonly RequestId[], isPrimed: boolean): ReplyResumption | undefined {
    const stream = replyStream(this.#store.replica, ids)
    if (stream.length > maxStreamName) return undefined
    const log: EventLog = {
      add: async (json) => this.replies.add(stream, json),
      pass: (json) => this.#replies?.pass(stream, json),
      end: () => void this.#replies?.end(stream),
    }
    return { stream, log, isEager: false, ...(isPrimed && { priming: primingOf(eventId(stream, 0)), silenceMs }) }
  }

  resume(position: ReplyPosition): ReadableStream<Uint8Array> {
    return this.replies.resume(position)
  }

  /** Streams that clients have resumed, or can resume. */
  get replies(): KeptReplies {
    this.#replies ??= new KeptReplies({
      store: this.#store,
      session: this.#id,
      owner: this.#stored.record.principal ?? this.#id,
      isRunning: (stream) => this.isRunning(stream),
    })
    return this.#replies
  }

  /** Ends the connections of resumed streams. */
  endResumed(): void {
    this.#replies?.close()
  }

  #mark(marks: { readonly announced?: string | undefined; readonly stream?: string | undefined }): void {
    this.#stored = { ...this.#stored, ...marks }
    this.#store.mark(this.#id, marks).catch(() => undefined)
  }

  #apply(stored: StoredSession): void {
    // A slower reply of the store must not undo a later change.
    if (stored.version < this.#stored.version) return
    const { record } = stored
    const scope = this.#scope
    const isNew = stored === this.#stored || stored.version > this.#stored.version
    this.#stored = stored
    this.#latest = Math.max(this.#latest, stored.version)
    if (!isNew) return
    if (this.#ownsActivation) scope.state.activation = record.activation
    scope.succeeded = new Set(record.succeeded)
    scope.order = record.order
    scope.neverRelists = record.neverRelists
    scope.logLevel = record.logLevel as LoggingLevel | undefined
  }

  async #updateActivation(change: (activation: Activation) => Activation): Promise<Activation> {
    const stored = await this.#store.update(
      this.#id,
      this.#stored,
      (record) => {
        const activation = change(record.activation)
        return activation === record.activation ? record : { ...record, activation }
      },
      this.#idleMs,
    )
    if (stored === undefined) throw new Failure('session_not_found', 'The session has ended.', { session: '' })
    this.#apply(stored)
    return stored.record.activation
  }
}
