import { type Suspicion, suspicionOf } from './finding.ts'
import { unseenSuspicions } from './hidden-characters.ts'
import { readingOf } from './joined-text.ts'
import { mostOrders, type Order, ordersOf } from './mentions.ts'
import { payloadSuspicions } from './payloads.ts'
import { phraseSuspicions } from './phrases.ts'
import { surfacesOf } from './text-parts.ts'

// Of one definition; more of them say nothing more.
const mostSuspicions = 20

/** What can be said of a definition by itself, and what depends on the others. */
export interface Scanned {
  readonly suspicions: readonly Suspicion[]
  readonly orders: readonly Order[]
  /** How much text it has. */
  readonly characters: number
}

/** Looks at all texts of a definition. The work grows with its size and no faster. */
export function scanned(definition: object): Scanned {
  const surfaces = surfacesOf(definition)
  const reading = readingOf(surfaces)
  const orders = ordersOf(reading)
  const all = [...unseenSuspicions(surfaces), ...phraseSuspicions(reading), ...payloadSuspicions(reading)]
  if (orders.length === mostOrders)
    all.unshift(suspicionOf('unread', { surface: orders[0]?.surface ?? '', excerpt: 'more orders than are looked at' }))
  return { suspicions: onceEach(all).slice(0, mostSuspicions), orders, characters: reading.words.length }
}

/** The first of each rule on each surface. */
export function onceEach(suspicions: readonly Suspicion[]): readonly Suspicion[] {
  if (suspicions.length < 2) return suspicions
  return [...new Map(suspicions.toReversed().map((each) => [`${each.rule} ${each.surface}`, each])).values()].toReversed()
}
