import type { SessionEvent, SessionMarks, SessionRecord, SessionStore, StoredSession } from '../src/stores/session-store.ts'

interface Held extends StoredSession {
  readonly json: string
}

/** Sessions of several handlers in one process, for tests. Values are copied as JSON, as a real store would. */
export class MemorySessions {
  readonly #sessions = new Map<string, Held>()
  readonly #replicas = new Map<
    string,
    { readonly listener: (id: string, event: SessionEvent) => void; readonly gap: () => void }
  >()
  /** Drops events, as a network may. */
  isLossy = false

  replica(replica: string): SessionStore {
    const put = (id: string, record: SessionRecord, version: number, { announced, stream }: SessionMarks): StoredSession => {
      const json = JSON.stringify(record)
      this.#sessions.set(id, { json, record, version, announced, stream })
      return this.#copy(id) as StoredSession
    }
    const send = async (id: string, event: SessionEvent, to?: string): Promise<void> => {
      if (this.isLossy) return
      const text = JSON.stringify(event)
      for (const [name, { listener }] of this.#replicas)
        if (name !== replica && (to === undefined || to === name)) listener(id, JSON.parse(text) as SessionEvent)
    }
    return {
      replica,
      isCurrent: true,
      create: async (id, record) => put(id, record, 1, { announced: undefined, stream: undefined }),
      load: async (id) => this.#copy(id),
      update: async (id, _known, change) => {
        const current = this.#copy(id)
        if (current === undefined) return undefined
        const next = change(current.record)
        if (next === current.record) return current
        const stored = put(id, next, current.version + 1, current)
        await send(id, { kind: 'changed', version: stored.version })
        return stored
      },
      mark: async (id, marks) => {
        const current = this.#sessions.get(id)
        if (current !== undefined) this.#sessions.set(id, { ...current, ...marks })
      },
      remove: async (id) => {
        this.#sessions.delete(id)
        await send(id, { kind: 'ended' })
      },
      renew: async (ids) =>
        new Map(
          ids.flatMap((id) => {
            const version = this.#sessions.get(id)?.version
            return version === undefined ? [] : [[id, version] as const]
          }),
        ),
      send,
      subscribe: (listener, gap) => {
        this.#replicas.set(replica, { listener, gap })
        return () => this.#replicas.delete(replica)
      },
      isAlive: (name) => this.#replicas.has(name),
    }
  }

  #copy(id: string): StoredSession | undefined {
    const found = this.#sessions.get(id)
    if (found === undefined) return undefined
    const { json, ...rest } = found
    return { ...rest, record: JSON.parse(json) as SessionRecord }
  }
}
