import type { KeptEvent, SessionEvent, SessionRecord, SessionStore, StoredSession } from '../src/stores/session-store.ts'

interface Held {
  readonly json: string
  readonly version: number
  readonly announced?: string | undefined
  readonly announcedAt?: number
  readonly listed?: string
  readonly listedAt?: number
  readonly stream?: string | undefined
}

/** Sessions of several handlers in one process. Values are copied as JSON, as a real store would. */
export class MemorySessions {
  readonly #sessions = new Map<string, Held>()
  readonly #listeners = new Map<string, (id: string, event: SessionEvent) => void>()
  readonly #kept = new Map<string, KeptEvent>()
  /** How many events were stored for clients that resume streams. */
  keptEvents = 0
  /** Drops events, as a network may. */
  isLossy = false
  #delay: { readonly requested: () => void; readonly until: Promise<void> } | undefined
  /** Rejects every request. */
  isUnavailable = false

  replica(replica: string): SessionStore {
    const send = async (id: string, event: SessionEvent, to?: string): Promise<void> => {
      if (this.isLossy) return
      const text = JSON.stringify(event)
      // Before the caller continues: Redis, too, sends an event before its reply.
      for (const [name, listener] of this.#listeners)
        if (name !== replica && (to === undefined || to === name)) listener(id, JSON.parse(text) as SessionEvent)
    }
    return {
      replica,
      isCurrent: true,
      create: async (id, record) => {
        this.#check()
        this.#sessions.set(id, { json: JSON.stringify(record), version: 1 })
        return this.#copy(id) as StoredSession
      },
      load: async (id) => this.#copy(id),
      update: async (id, _known, change) => {
        this.#delay?.requested()
        await this.#delay?.until
        const current = this.#copy(id)
        const held = this.#sessions.get(id)
        if (current === undefined || held === undefined) return undefined
        const next = change(current.record)
        if (next === current.record) return current
        this.#sessions.set(id, { ...held, json: JSON.stringify(next), version: held.version + 1 })
        await send(id, { kind: 'changed', version: held.version + 1 })
        return this.#copy(id)
      },
      mark: async (id, marks) => {
        this.#check()
        const held = this.#sessions.get(id)
        if (held !== undefined)
          this.#sessions.set(id, { ...held, ...marks, ...('announced' in marks && { announcedAt: performance.now() }) })
      },
      confirm: async (lists) => {
        this.#check()
        const versions = new Map<string, number>()
        for (const [id, { fingerprint, ageMs }] of lists) {
          const held = this.#sessions.get(id)
          if (held === undefined) continue
          this.#sessions.set(id, { ...held, listed: fingerprint, listedAt: performance.now() - ageMs })
          versions.set(id, held.version)
        }
        return versions
      },
      remove: async (id) => {
        this.#check()
        this.#sessions.delete(id)
        await send(id, { kind: 'ended' })
      },
      renew: async (ids) =>
        new Map(
          ids.flatMap((id) => {
            const found = this.#copy(id)
            return found === undefined ? [] : [[id, found] as const]
          }),
        ),
      send,
      subscribe: (listener) => {
        this.#listeners.set(replica, listener)
        return () => this.#listeners.delete(replica)
      },
      isAlive: (name) => this.#listeners.has(name),
      keep: async (id, event) => {
        this.#check()
        this.keptEvents++
        this.#kept.set(JSON.stringify([id, event.stream, event.index]), event)
      },
      kept: async (id, stream, index) => {
        this.#check()
        const found: string[] = []
        for (let next = index + 1; ; next++) {
          const event = this.#kept.get(JSON.stringify([id, stream, next]))
          if (event === undefined) return found
          found.push(event.json)
        }
      },
    }
  }

  /** Makes others see that a replica has stopped. */
  kill(replica: string): void {
    this.#listeners.delete(replica)
  }

  /** Holds changes back until `proceed` is called. */
  delayUpdates(): { readonly requested: Promise<void>; readonly proceed: () => void } {
    let proceed = (): void => undefined
    const until = new Promise<void>((resolve) => {
      proceed = () => {
        this.#delay = undefined
        resolve()
      }
    })
    const requested = new Promise<void>((resolve) => {
      this.#delay = { requested: resolve, until }
    })
    return { requested, proceed }
  }

  #check(): void {
    if (this.isUnavailable) throw new Error('The store is unavailable.')
  }

  #copy(id: string): StoredSession | undefined {
    this.#check()
    const held = this.#sessions.get(id)
    if (held === undefined) return undefined
    const { json, version, announced, announcedAt = 0, listed, listedAt = 0, stream } = held
    return {
      record: JSON.parse(json) as SessionRecord,
      version,
      announced,
      listed,
      hasListedSince: listedAt > announcedAt,
      stream,
    }
  }
}
