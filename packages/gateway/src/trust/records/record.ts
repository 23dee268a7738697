import { digestsOf, isWithin, type Shape, shapeOf } from '../digest.ts'
import type { Run } from '../run.ts'

/** What kind of text or definition of a server is pinned. */
export type ItemKind = 'tool' | 'prompt' | 'template' | 'instructions'

export const itemKinds = ['tool', 'prompt', 'template', 'instructions'] as const satisfies readonly ItemKind[]

/** One definition that a server offers. */
export interface Item {
  readonly kind: ItemKind
  /** Name on the server; empty for instructions. */
  readonly name: string
  readonly definition: object
}

/** Who accepted a definition: the first list, a setting that accepts changes, or a person. */
export type AcceptedBy = 'baseline' | 'watch' | 'person'

export interface Accepted extends Item {
  readonly digest: string
  readonly by: AcceptedBy
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** A definition that no client gets. */
export interface Blocked extends Item {
  readonly body: string
  readonly at: number
}

/** All decisions about one server, in the order in which they were made. */
export interface ServerRecord {
  /** Kinds whose first list was accepted or reviewed. */
  readonly baseline: readonly ItemKind[]
  readonly accepted: readonly Accepted[]
  readonly blocked: readonly Blocked[]
  readonly run?: Run
}

export const emptyRecord: ServerRecord = { baseline: [], accepted: [], blocked: [] }

export const isItemKind = (text: string): text is ItemKind => (itemKinds as readonly string[]).includes(text)

// Automatic decisions are forgotten beyond this number per item; decisions of a person never are.
const maxAutomatic = 5

export function accept(record: ServerRecord, items: readonly Item[], by: AcceptedBy, at: number): ServerRecord {
  const added = items.map((item) => ({ ...item, digest: digestsOf(item.definition).definition, by, at }))
  const bodies = new Set(by === 'person' ? items.map((item) => digestsOf(item.definition).body) : [])
  const keys = new Set(added.map(({ kind, digest }) => `${kind} ${digest}`))
  const kept = record.accepted.filter(({ kind, digest }) => !keys.has(`${kind} ${digest}`))
  return {
    ...record,
    baseline: withKinds(record.baseline, items),
    accepted: withoutOldAutomatic([...kept, ...added]),
    blocked: record.blocked.filter(({ body }) => !bodies.has(body)),
  }
}

/** Records that the first list of a kind was seen, even if it was empty. */
export function setBaseline(record: ServerRecord, kinds: readonly ItemKind[]): ServerRecord {
  const missing = kinds.filter((kind) => !record.baseline.includes(kind))
  return missing.length === 0 ? record : { ...record, baseline: [...record.baseline, ...missing] }
}

const withKinds = (baseline: readonly ItemKind[], items: readonly Item[]): readonly ItemKind[] => [
  ...new Set([...baseline, ...items.map(({ kind }) => kind)]),
]

export function block(record: ServerRecord, items: readonly Item[], at: number): ServerRecord {
  const added = items.map((item) => ({ ...item, body: digestsOf(item.definition).body, at }))
  const bodies = new Set(added.map(({ body }) => body))
  return {
    ...record,
    accepted: record.accepted.filter(({ definition }) => !bodies.has(digestsOf(definition).body)),
    blocked: [...record.blocked.filter(({ body }) => !bodies.has(body)), ...added],
  }
}

function withoutOldAutomatic(accepted: readonly Accepted[]): readonly Accepted[] {
  const counts = new Map<string, number>()
  const kept = accepted.toReversed().filter(({ kind, name, by }) => {
    if (by === 'person') return true
    const key = `${kind} ${name}`
    const count = (counts.get(key) ?? 0) + 1
    counts.set(key, count)
    return count <= maxAutomatic
  })
  return kept.toReversed()
}

/** Answers questions about a record quickly. */
export class RecordIndex {
  readonly record: ServerRecord
  readonly #accepted: ReadonlySet<string>
  readonly #blocked: ReadonlySet<string>
  /** By kind and name, the latest last. */
  readonly #byName: ReadonlyMap<string, readonly Accepted[]>
  /** Computed for the items that were asked about. */
  readonly #shapes = new Map<string, readonly Shape[]>()

  constructor(record: ServerRecord) {
    this.record = record
    this.#accepted = new Set(record.accepted.map(({ kind, digest }) => `${kind} ${digest}`))
    this.#blocked = new Set(record.blocked.map(({ kind, body }) => `${kind} ${body}`))
    const byName = new Map<string, Accepted[]>()
    for (const each of record.accepted) {
      const known = byName.get(keyOf(each))
      if (known === undefined) byName.set(keyOf(each), [each])
      else known.push(each)
    }
    this.#byName = byName
  }

  isBlocked(item: Item): boolean {
    return this.#blocked.size > 0 && this.#blocked.has(`${item.kind} ${digestsOf(item.definition).body}`)
  }

  isAccepted(item: Item): boolean {
    if (this.#accepted.has(`${item.kind} ${digestsOf(item.definition).definition}`)) return true
    const shapes = this.#shapesOf(item)
    if (shapes.length === 0) return false
    const shape = shapeOf(item.definition)
    return shape.enums.size > 0 && shapes.some((each) => isWithin(shape, each))
  }

  /** The definition of this name that was accepted last. */
  previous(item: Item): Accepted | undefined {
    return this.#byName.get(keyOf(item))?.at(-1)
  }

  #shapesOf(item: Item): readonly Shape[] {
    const key = keyOf(item)
    const known = this.#shapes.get(key)
    if (known !== undefined) return known
    const shapes = (this.#byName.get(key) ?? []).map(({ definition }) => shapeOf(definition))
    this.#shapes.set(key, shapes)
    return shapes
  }
}

const keyOf = ({ kind, name }: Item): string => `${kind} ${name}`
