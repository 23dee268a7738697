import type { Facts, Predicate, Snapshot } from './entry.ts'

/** Versioned facts: a result is valid as long as the versions it read are current. */
export interface FactSource<F extends Facts = Facts> {
  /** Increases with every change. */
  readonly version: number
  /** `version` of the last change of this fact. */
  versionOf(name: string): number
  /** All current facts; the same object until one changes. */
  read(): F
  /** Calls `changed` after every change. */
  subscribe(changed: () => void): () => void
}

/** Facts that are set individually. Setting an equal value changes nothing. */
export class LiveFacts<F extends Facts> implements FactSource<F> {
  readonly #values: Map<string, unknown>
  readonly #versions = new Map<string, number>()
  readonly #listeners = new Set<() => void>()
  #version = 0
  #snapshot: F | undefined

  constructor(initial: F) {
    this.#values = new Map(Object.entries(initial))
  }

  get version(): number {
    return this.#version
  }

  versionOf(name: string): number {
    return this.#versions.get(name) ?? 0
  }

  get<K extends keyof F & string>(name: K): F[K] {
    return this.#values.get(name) as F[K]
  }

  read(): F {
    this.#snapshot ??= Object.freeze(Object.fromEntries(this.#values)) as F
    return this.#snapshot
  }

  /** Changes several facts atomically. */
  set(changes: Partial<F>): void {
    const version = this.#version + 1
    let isChanged = false
    for (const name of Object.keys(changes)) {
      const value = changes[name]
      if (Object.is(this.#values.get(name), value) && this.#values.has(name)) continue
      this.#values.set(name, value)
      this.#versions.set(name, version)
      isChanged = true
    }
    if (!isChanged) return
    this.#version = version
    this.#snapshot = undefined
    for (const listener of this.#listeners) listener()
  }

  subscribe(changed: () => void): () => void {
    this.#listeners.add(changed)
    return () => this.#listeners.delete(changed)
  }
}

/** Evaluates a predicate. */
export type Evaluate = (predicate: Predicate, snapshot: Snapshot) => boolean

/** Evaluates without caching. */
export const evaluateDirectly: Evaluate = (predicate, snapshot) => predicate(snapshot) === true

/** Result of a predicate with the versions of the facts it read. */
interface CachedResult {
  readonly result: boolean
  readonly reads: ReadonlyMap<string, number>
  /** Version of all facts, for a predicate that enumerated them. */
  readonly allVersion: number | undefined
}

/**
 * Evaluates a predicate again only when a fact it read has changed. A predicate that reads no fact, or which groups are active, is
 * evaluated every time, because that has no version.
 */
export function memoizedEvaluate(source: FactSource): Evaluate {
  const known = new WeakMap<Predicate, CachedResult>()
  return (predicate, snapshot) => {
    const found = known.get(predicate)
    if (found !== undefined && isCurrent(source, found)) return found.result
    const reads = new Set<string>()
    let readsWhole = false
    let readsElsewhere = false
    const result = evaluateDirectly(predicate, {
      facts: tracked(
        snapshot.facts,
        (name) => reads.add(name),
        () => {
          readsWhole = true
        },
      ),
      isActive: (group) => {
        readsElsewhere = true
        return snapshot.isActive(group)
      },
    })
    known.delete(predicate)
    if (readsElsewhere || (reads.size === 0 && !readsWhole)) return result
    const versions = new Map([...reads].map((name) => [name, source.versionOf(name)]))
    known.set(predicate, { result, reads: versions, allVersion: readsWhole ? source.version : undefined })
    return result
  }
}

/** Wraps facts: `read` receives the name of each fact read, `readAll` is called on enumeration. */
function tracked(facts: Facts, read: (name: string) => void, readAll: () => void): Facts {
  const note = (name: string | symbol): void => {
    if (typeof name === 'string') read(name)
  }
  return new Proxy(facts, {
    get(target, name) {
      note(name)
      return Reflect.get(target, name) as unknown
    },
    has(target, name) {
      note(name)
      return Reflect.has(target, name)
    },
    getOwnPropertyDescriptor(target, name) {
      note(name)
      return Reflect.getOwnPropertyDescriptor(target, name)
    },
    // A fact added later would change the result but has no version yet.
    ownKeys(target) {
      readAll()
      return Reflect.ownKeys(target)
    },
  })
}

function isCurrent(source: FactSource, { reads, allVersion }: CachedResult): boolean {
  if (allVersion !== undefined && source.version !== allVersion) return false
  for (const [name, version] of reads) if (source.versionOf(name) !== version) return false
  return true
}
