import type { SessionEvent, SessionRecord, SessionStore, StoredSession } from '../src/stores/session-store.ts'

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
  /** Drops events, as a network may. */
  isLossy = false
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
    }
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
