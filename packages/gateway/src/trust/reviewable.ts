import type { Change } from './decide.ts'
import { digestsOf } from './digest.ts'
import type { Accepted, Item, ServerRecord } from './records/record.ts'

/** A definition that a person may approve or block. */
export interface Reviewable extends Change {
  /** `changed`: served under `watch` although it is new or changed, and not reviewed yet. */
  readonly state: 'held' | 'changed' | 'blocked'
  /** SHA-256 of the definition; identifies it in a decision. */
  readonly digest: string
}

export interface Withheld {
  readonly held: readonly Change[]
  /** Blocked definitions that the server offers now. */
  readonly blocked: readonly Item[]
}

/** Lists what waits for a decision, what changed without one, and what is blocked. */
export function reviewables(record: ServerRecord, { held, blocked }: Withheld): readonly Reviewable[] {
  const offered = new Set(blocked.map(({ definition }) => digestsOf(definition).body))
  const notOffered = record.blocked.filter(({ body }) => !offered.has(body))
  return [
    ...held.map((change) => withState('held', change)),
    ...servedChanges(record).map((change) => withState('changed', change)),
    ...[...blocked, ...notOffered].map((item) => withState('blocked', { item, previous: undefined, hazards: [] })),
  ]
}

const withState = (state: Reviewable['state'], change: Change): Reviewable => ({
  ...change,
  state,
  digest: digestsOf(change.item.definition).definition,
})

/** The latest definition of each name, if it was accepted without a person. */
function servedChanges({ accepted }: ServerRecord): readonly Change[] {
  const latest = new Map<string, { readonly item: Accepted; readonly previous: Accepted | undefined }>()
  for (const item of accepted) {
    const key = `${item.kind} ${item.name}`
    latest.set(key, { item, previous: latest.get(key)?.item })
  }
  return [...latest.values()]
    .filter(({ item }) => item.by === 'watch')
    .map(({ item: { kind, name, definition }, previous }) => ({ item: { kind, name, definition }, previous, hazards: [] }))
}
