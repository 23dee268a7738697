import type { Difference, DocumentNotice, LogEntry } from '@unfold-mcp/client'
import type { Tool } from '@unfold-mcp/core'

/**
 * What an upstream is doing. `installing`: a launcher such as `npx` is installing it. `degraded`: it is connected, and `tools/list`
 * fails. `reconnecting`: it was lost. `failed`: it does not start, or has not come back for a while; it is tried again all the same.
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

/** What happens to upstreams, by the name of the event. */
export interface UpstreamEvents {
  /** It is in another state. `attempt`: how many there were, where it is not connected. */
  state: {
    readonly upstream: string
    readonly state: UpstreamState
    readonly error?: string
    readonly attempt?: number
    readonly retryInMs?: number
  }
  /** It is still being installed. */
  installing: { readonly upstream: string; readonly attempt: number; readonly ms: number }
  /** It has been installed. */
  installed: { readonly upstream: string; readonly ms: number }
  /** It was met: who it is, what it speaks, and whether it says by itself when its tools change. */
  connected: {
    readonly upstream: string
    readonly server: string
    readonly protocolVersion: string
    readonly announcesChanges: boolean
    readonly ms: number
  }
  /** Its tools were read for the first time since it was met. */
  listed: { readonly upstream: string; readonly total: number; readonly ms: number }
  /** It says that its tools changed. */
  list_changed: { readonly upstream: string; readonly isDeclared: boolean }
  /** Its tools are others than before. */
  tools: ToolsChanged
  /** `tools/list` failed. */
  list_failed: { readonly upstream: string; readonly error: string; readonly attempt: number; readonly retryInMs: number }
  /** It never comes to rest, and is looked at more slowly. */
  throttled: { readonly upstream: string; readonly delayMs: number }
  call: { readonly upstream: string; readonly tool: string; readonly ms: number; readonly outcome: string }
  /** It wrote a line to standard error. */
  stderr: { readonly upstream: string; readonly line: string }
  /** It wrote to its log. */
  log: { readonly upstream: string; readonly entry: LogEntry }
  /** It says that its prompts or resources changed; `unsure`: it may have said so without being heard. */
  documents: { readonly upstream: string; readonly notice: DocumentNotice | { readonly kind: 'resync' } }
  warning: { readonly upstream: string; readonly message: string }
}

/** A change of an upstream's tools: what is new, gone, or not what it was, and how long it took to be followed. */
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

type Listener = (event: UpstreamEvent) => void

interface Subscription {
  /** Of all kinds where it names none. */
  readonly type: keyof UpstreamEvents | undefined
  readonly listener: Listener
}

/** Tells whoever listens what happens. One that throws harms nobody: it is named in a warning. */
export class EventStream {
  readonly #ears = new Set<Subscription>()
  /** Who listens for what, for as long as nobody comes or goes. */
  readonly #byType = new Map<keyof UpstreamEvents, readonly Listener[]>()
  #isWarning = false

  /** Calls `listener` with every event, until what is returned is called. */
  all(listener: Listener): () => void {
    return this.#add({ type: undefined, listener })
  }

  /** Calls `listener` with the events of one kind, until what is returned is called. */
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
    const told = { type, ...event } as UpstreamEvent
    for (const listener of listeners) {
      try {
        listener(told)
      } catch (error) {
        this.#warn(event.upstream, type, error)
      }
    }
  }

  #add(ear: Subscription): () => void {
    this.#ears.add(ear)
    this.#byType.clear()
    return () => {
      this.#ears.delete(ear)
      this.#byType.clear()
    }
  }

  #listeners(type: keyof UpstreamEvents): readonly Listener[] {
    const known = this.#byType.get(type)
    if (known !== undefined) return known
    const found = [...this.#ears].filter((ear) => ear.type === undefined || ear.type === type).map(({ listener }) => listener)
    this.#byType.set(type, found)
    return found
  }

  #warn(upstream: string, type: string, error: unknown): void {
    if (this.#isWarning) return
    this.#isWarning = true
    this.emit('warning', { upstream, message: `Somebody who listens for "${type}" failed: ${String(error)}` })
    this.#isWarning = false
  }
}

const isOf = <E extends keyof UpstreamEvents>(
  event: UpstreamEvent,
  type: E,
): event is UpstreamEvent & { readonly type: E } & UpstreamEvents[E] => event.type === type
