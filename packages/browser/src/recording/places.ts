import { type Kind, kinds } from '../records/records.ts'
import type { Recording } from './recording.ts'

const maxRemembered = 200

// For each place that was given out, how many records of each kind there had been by then.
const remembered = new WeakMap<Recording, Map<number, readonly number[]>>()

/** The place of now, to ask later for what came after it. What goes unseen until then can be counted. */
export function currentSeq(recording: Recording): number {
  const places = remembered.get(recording) ?? new Map<number, readonly number[]>()
  remembered.set(recording, places)
  const place = recording.seq
  // The newest is last, so that the oldest is forgotten first.
  places.delete(place)
  places.set(
    place,
    kinds.map((kind) => recording.of(kind).pushed),
  )
  for (const [oldest] of places) {
    if (places.size <= maxRemembered) break
    places.delete(oldest)
  }
  return place
}

/** How many records of a kind came after the place and are gone; at most so many, for a place that was not given out lately. */
export function missedSince(recording: Recording, kind: Kind, place: number): number {
  const { pushed, length, evicted, lastEvicted } = recording.of(kind)
  const before = remembered.get(recording)?.get(place)?.[kinds.indexOf(kind)]
  if (before !== undefined) return Math.max(0, pushed - length - before)
  return Math.max(0, Math.min(evicted, lastEvicted - place))
}
