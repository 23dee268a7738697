import type { Finding } from '../poisoning/finding.ts'
import { type Accepted, type Item, type ItemKind, RecordIndex, type ServerRecord } from './records/record.ts'

/** How new and changed definitions of a server are treated. */
export type TrustSetting = 'off' | 'watch' | 'pin' | 'review'

/** A definition that is new or differs from the accepted one. */
export interface Change {
  readonly item: Item
  readonly previous: Accepted | undefined
  /** Why a rule classifies the change as hazardous. */
  readonly hazards: readonly Finding[]
}

export interface Decision {
  readonly served: readonly Item[]
  /** Not served until a person approves them. */
  readonly held: readonly Change[]
  /** Not served, because a person blocked them. */
  readonly blocked: readonly Item[]
  /** Served although they are new or changed: they must be recorded. */
  readonly changes: readonly Change[]
}

/** Finds what is hazardous about a change; `previous` is absent for a new definition. */
export type HazardCheck = (item: Item, previous: Accepted | undefined) => readonly Finding[]

/**
 * Decides which definitions of a server clients may see. Everything that is listed, found or called passes this function once, where
 * the catalogue is built.
 */
export function decide(
  setting: TrustSetting,
  record: ServerRecord | RecordIndex,
  items: readonly Item[],
  hazardsOf: HazardCheck,
): Decision {
  const index = record instanceof RecordIndex ? record : new RecordIndex(record)
  const served: Item[] = []
  const held: Change[] = []
  const blocked: Item[] = []
  const changes: Change[] = []
  for (const item of items) {
    if (index.isBlocked(item)) blocked.push(item)
    else if (setting === 'off' || index.isAccepted(item)) served.push(item)
    else {
      const hasBaseline = index.record.baseline.includes(item.kind)
      const previous = index.previous(item)
      const hazards = hasBaseline || setting === 'review' ? hazardsOf(item, previous) : []
      const change = { item, previous, hazards }
      if (mayServe(setting, hasBaseline, hazards)) {
        served.push(item)
        changes.push(change)
      } else held.push(change)
    }
  }
  return { served, held, blocked, changes }
}

/** True if the first list of a kind becomes what later lists are compared with. */
export const acceptsBaseline = (setting: TrustSetting, { baseline }: ServerRecord, kind: ItemKind): boolean =>
  (setting === 'watch' || setting === 'pin') && !baseline.includes(kind)

function mayServe(setting: TrustSetting, hasBaseline: boolean, hazards: readonly Finding[]): boolean {
  if (setting === 'review') return false
  if (!hasBaseline) return true
  return setting === 'watch' && hazards.length === 0
}
