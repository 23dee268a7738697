import type { Activation } from '@unfold-mcp/core'
import { isRecord } from '@unfold-mcp/core'
import { parseActivation } from './store.ts'

/** A session as all replicas know it. */
export interface SessionRecord {
  /** Name of the toolbox that serves it. */
  readonly toolbox: string
  /** Id of the principal that it belongs to. */
  readonly principal: string | undefined
  /** Parameters of the client's `initialize` request. */
  readonly initialize: { readonly [name: string]: unknown }
  /** The client has sent `notifications/initialized`. */
  readonly isInitialized: boolean
  readonly activation: Activation
  /** Tools that others wait for and that succeeded. */
  readonly succeeded: readonly string[]
  /** Names of the tools in the order in which the client first saw them. */
  readonly order: readonly string[]
  readonly neverRelists: boolean
  readonly logLevel: string | undefined
  /** URIs of the resources that the client subscribed to. */
  readonly subscriptions: readonly string[]
}

/** What a client knows of its view. It changes without a new version of the record. */
export interface ClientKnowledge {
  /** Fingerprint of the view that the client was last notified of. */
  readonly announced: string | undefined
  /** Fingerprint of the view that the client listed last. */
  readonly listed: string | undefined
  /** The client listed after it was last notified. */
  readonly hasListedSince: boolean
}

/** A list that a client got. */
export interface ServedList {
  readonly fingerprint: string
  /** How long ago that was. */
  readonly ageMs: number
}

export interface StoredSession extends ClientKnowledge {
  readonly record: SessionRecord
  /** Grows with every change of the record. */
  readonly version: number
  /** Replica that has the client's standalone stream. */
  readonly stream: string | undefined
}

/** What happened to a session on another replica. */
export type SessionEvent =
  | { readonly kind: 'changed'; readonly version: number }
  | { readonly kind: 'ended' }
  /** The client opened its standalone stream on `replica`. */
  | { readonly kind: 'listening'; readonly replica: string }
  /** The client listed its tools. */
  | { readonly kind: 'listed'; readonly fingerprint: string }
  /** A message of the client for a request that runs on this replica. */
  | { readonly kind: 'message'; readonly message: unknown }
  /** The client resumed a stream on `replica`; its requests run on this one. */
  | { readonly kind: 'followed'; readonly stream: string; readonly replica: string }
  /** A stream that was resumed on this replica has a new event: `message`, or one that is stored. `isOver`: the last one was. */
  | { readonly kind: 'streamed'; readonly stream: string; readonly message?: string; readonly isOver?: boolean }

/** A message of a reply stream, for a client whose connection broke. */
export interface KeptEvent {
  readonly stream: string
  /** 1 for the first event of the stream. */
  readonly index: number
  readonly json: string
  /** Whose share of the store it uses. */
  readonly owner: string
}

/** Sessions that several replicas serve together. Methods reject while the store cannot be reached. */
export interface SessionStore {
  /** Id of this replica, without dots. */
  readonly replica: string
  /** False while events may be missed: then a record is loaded before every request. */
  readonly isCurrent: boolean
  create(id: string, record: SessionRecord, idleMs: number): Promise<StoredSession>
  /** Loads a session and extends its life; `undefined` if it has ended. */
  load(id: string, idleMs: number): Promise<StoredSession | undefined>
  /**
   * Replaces a record by a function of its current state, atomically across replicas. The function may run more than once, first
   * with `known`. Resolves to `undefined` if the session has ended.
   */
  update(
    id: string,
    known: StoredSession,
    change: (record: SessionRecord) => SessionRecord,
    idleMs: number,
  ): Promise<StoredSession | undefined>
  /** Records what the client was notified of, or the replica that has its stream. */
  mark(id: string, marks: { readonly announced?: string | undefined; readonly stream?: string | undefined }): Promise<void>
  /** Records the views that clients have listed, by session. Resolves to the current versions of the sessions. */
  confirm(lists: ReadonlyMap<string, ServedList>): Promise<ReadonlyMap<string, number>>
  remove(id: string): Promise<void>
  /** Extends the life of sessions. Those that have ended are missing in the result. */
  renew(ids: readonly string[], idleMs: number): Promise<ReadonlyMap<string, ClientKnowledge & { readonly version: number }>>
  /** Sends an event to one replica or to all others. */
  send(id: string, event: SessionEvent, to?: string): Promise<void>
  /** Calls `listener` with the events of other replicas, and `gap` when some may have been missed. */
  subscribe(listener: (id: string, event: SessionEvent) => void, gap: () => void): () => void
  /** False if the replica is known to have stopped. */
  isAlive(replica: string): boolean
  /** Stores an event of a stream for a few minutes. It may be evicted earlier. */
  keep(id: string, event: KeptEvent): Promise<void>
  /** Returns the stored events of a stream after `index`, up to the first one that is missing. */
  kept(id: string, stream: string, index: number): Promise<readonly string[]>
}

const maxNames = 10_000

/** Validates a stored value; returns `undefined` if it is not a session. */
export function parseSessionRecord(value: unknown): SessionRecord | undefined {
  if (!isRecord(value)) return undefined
  const { toolbox, principal, initialize, isInitialized, succeeded, order, neverRelists, logLevel, subscriptions } = value
  const activation = parseActivation(value.activation)
  if (typeof toolbox !== 'string' || !isRecord(initialize) || activation === undefined) return undefined
  if (!isOptionalText(principal) || !isOptionalText(logLevel)) return undefined
  if (typeof isInitialized !== 'boolean' || typeof neverRelists !== 'boolean') return undefined
  if (!isNames(succeeded) || !isNames(order) || !isNames(subscriptions)) return undefined
  return { toolbox, principal, initialize, isInitialized, activation, succeeded, order, neverRelists, logLevel, subscriptions }
}

const isOptionalText = (value: unknown): value is string | undefined => value === undefined || typeof value === 'string'

const isNames = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.length <= maxNames && value.every((item) => typeof item === 'string')

/** Validates an event of another replica. */
export function parseSessionEvent(value: unknown): SessionEvent | undefined {
  if (!isRecord(value)) return undefined
  const { kind, version, replica, message, stream, isOver, fingerprint } = value
  if (kind === 'changed' && typeof version === 'number') return { kind, version }
  if (kind === 'ended') return { kind }
  if (kind === 'listed' && typeof fingerprint === 'string') return { kind, fingerprint }
  if (kind === 'listening' && typeof replica === 'string') return { kind, replica }
  if (typeof stream !== 'string') return kind === 'message' ? { kind, message } : undefined
  if (kind === 'followed' && typeof replica === 'string') return { kind, stream, replica }
  if (kind !== 'streamed') return undefined
  return { kind, stream, ...(typeof message === 'string' && { message }), ...(isOver === true && { isOver }) }
}
