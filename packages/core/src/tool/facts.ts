import type { Facts, Predicate, Snapshot } from './entry.ts'

/** World state that knows when it changed: what was computed from it holds for as long as the versions it read stay. */
export interface FactSource<F extends Facts = Facts> {
  /** Grows with every change of any fact. */
  readonly version: number
  /** The `version` at which this fact changed last. */
  versionOf(name: string): number
  /** All facts at this moment; the same object until one changes. */
  read(): F
  /** Calls `changed` after every change. */
  subscribe(changed: () => void): () => void
}

/** Facts that are set as they change, each with a version of its own. Setting one to what it is changes nothing. */
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

  /** Changes these facts together: whoever reads sees all of them changed, or none. */
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

/** How a predicate is asked. */
export type Evaluate = (predicate: Predicate, snapshot: Snapshot) => boolean

/** Asks a predicate anew each time. */
export const evaluateDirectly: Evaluate = (predicate, snapshot) => predicate(snapshot) === true

/** What a predicate said, and the versions of all that it read. */
interface CachedResult {
  readonly result: boolean
  readonly reads: ReadonlyMap<string, number>
  /** The version of all facts, for one that asked which facts there are. */
  readonly allVersion: number | undefined
}

/**
 * Asks predicates again only when a fact that they read has changed. One that reads no fact, or which groups are active, is
 * asked every time: what it depends on has no version.
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

/** The same facts; `read` hears the name of each that is looked at, and `readAll` when somebody asks which there are. */
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
    // A fact that is set for the first time later changes the answer too, and has no version yet.
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
