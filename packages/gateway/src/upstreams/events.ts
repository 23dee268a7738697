import type { Difference, DocumentChange, LogEntry } from '@unfold-mcp/client'
import type { Tool } from '@unfold-mcp/core'
import type { Slowdown } from './connected/follow-budget.ts'

/**
 * State of an upstream. `installing`: a launcher such as `npx` is installing it. `degraded`: connected, but `tools/list` fails.
 * `reconnecting`: the connection was lost. `failed`: it does not start or reconnect; retries continue. `idle`: it starts on the
 * first call.
 */
export type UpstreamState =
  | 'starting'
  | 'installing'
  | 'ready'
  | 'degraded'
  | 'reconnecting'
  | 'needs_login'
  | 'failed'
  | 'disabled'
  | 'idle'
  | 'stopped'

/** Events of upstreams, by type. */
export interface UpstreamEvents {
  /** The state changed. `attempt`: number of the attempt, while it is not connected. */
  state: {
    readonly upstream: string
    readonly state: UpstreamState
    readonly error?: string
    readonly attempt?: number
    readonly retryInMs?: number
  }
  /** Progress of an installation. */
  installing: { readonly upstream: string; readonly attempt: number; readonly ms: number }
  installed: { readonly upstream: string; readonly ms: number }
  connected: {
    readonly upstream: string
    readonly server: string
    readonly protocolVersion: string
    readonly announcesChanges: boolean
    readonly ms: number
  }
  /** First successful `tools/list` since connecting. */
  listed: { readonly upstream: string; readonly total: number; readonly ms: number }
  /** `notifications/tools/list_changed` was received. */
  list_changed: { readonly upstream: string; readonly isDeclared: boolean }
  /** The tools changed. */
  tools: ToolsChanged
  /** `tools/list` failed. */
  list_failed: { readonly upstream: string; readonly error: string; readonly attempt: number; readonly retryInMs: number }
  /** It announces changes too often, so reads are delayed. */
  throttled: { readonly upstream: string; readonly delayMs: number }
  /** Following it is expensive, so its lists are read less often than they change. */
  slowed: { readonly upstream: string } & Slowdown
  call: { readonly upstream: string; readonly tool: string; readonly ms: number; readonly outcome: string }
  stderr: { readonly upstream: string; readonly line: string }
  log: { readonly upstream: string; readonly entry: LogEntry }
  /** Prompts or resources changed; `resync`: a notification may have been missed. */
  documents: { readonly upstream: string; readonly notice: DocumentChange | { readonly kind: 'resync' } }
  warning: { readonly upstream: string; readonly message: string }
}

/** A change of an upstream's tools. */
export interface ToolsChanged {
  readonly upstream: string
  readonly tools: readonly Tool[]
  readonly difference: Difference
  readonly added: number
  readonly changed: number
  readonly removed: number
  readonly reads: number
  readonly ms: number
}

export type UpstreamEvent = {
  readonly [E in keyof UpstreamEvents]: { readonly type: E } & UpstreamEvents[E]
}[keyof UpstreamEvents]

export type Emit = <E extends keyof UpstreamEvents>(type: E, event: UpstreamEvents[E]) => void

/** Receives every event of the upstreams. */
export type Listener = (event: UpstreamEvent) => void

interface Subscription {
  /** All types if undefined. */
  readonly type: keyof UpstreamEvents | undefined
  readonly listener: Listener
}

/** Typed event emitter. A listener that throws causes a warning and does not affect the others. */
export class EventStream {
  readonly #subscriptions = new Set<Subscription>()
  /** Cache of the listeners per type. */
  readonly #byType = new Map<keyof UpstreamEvents, readonly Listener[]>()
  #isWarning = false

  /** Subscribes to all events. Returns a function that unsubscribes. */
  all(listener: Listener): () => void {
    return this.#add({ type: undefined, listener })
  }

  /** Subscribes to one type of event. Returns a function that unsubscribes. */
  on<E extends keyof UpstreamEvents>(type: E, listener: (event: UpstreamEvents[E]) => void): () => void {
    return this.#add({
      type,
      listener: (event) => {
        if (isOf(event, type)) listener(event)
      },
    })
  }

  readonly emit: Emit = (type, event) => {
    const listeners = this.#listeners(type)
    if (listeners.length === 0) return
    const typed = { type, ...event } as UpstreamEvent
    for (const listener of listeners) {
      try {
        listener(typed)
      } catch (error) {
        this.#warn(event.upstream, type, error)
      }
    }
  }

  #add(subscription: Subscription): () => void {
    this.#subscriptions.add(subscription)
    this.#byType.clear()
    return () => {
      this.#subscriptions.delete(subscription)
      this.#byType.clear()
    }
  }

  #listeners(type: keyof UpstreamEvents): readonly Listener[] {
    const known = this.#byType.get(type)
    if (known !== undefined) return known
    const listeners = [...this.#subscriptions]
      .filter((subscription) => subscription.type === undefined || subscription.type === type)
      .map(({ listener }) => listener)
    this.#byType.set(type, listeners)
    return listeners
  }

  #warn(upstream: string, type: string, error: unknown): void {
    if (this.#isWarning) return
    this.#isWarning = true
    this.emit('warning', { upstream, message: `a listener for "${type}" failed: ${String(error)}` })
    this.#isWarning = false
  }
}

const isOf = <E extends keyof UpstreamEvents>(
  event: UpstreamEvent,
  type: E,
): event is UpstreamEvent & { readonly type: E } & UpstreamEvents[E] => event.type === type
