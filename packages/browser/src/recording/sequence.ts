import { type Kind, kinds } from '../records/records.ts'
import type { Recording } from './recording.ts'

const maxRemembered = 200

// For each issued sequence number, the number of records of each kind at that time.
const remembered = new WeakMap<Recording, Map<number, readonly number[]>>()

/** Returns the current sequence number, and remembers the counts so that dropped records can be counted later. */
export function currentSeq(recording: Recording): number {
  const places = remembered.get(recording) ?? new Map<number, readonly number[]>()
  remembered.set(recording, places)
  const place = recording.seq
  // The newest is last, so that the oldest is evicted first.
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

/** Number of records of a kind dropped since a sequence number; an upper bound if it was not issued recently. */
export function missedSince(recording: Recording, kind: Kind, place: number): number {
  const { pushed, length, evicted, lastEvicted } = recording.of(kind)
  const before = remembered.get(recording)?.get(place)?.[kinds.indexOf(kind)]
  if (before !== undefined) return Math.max(0, pushed - length - before)
  return Math.max(0, Math.min(evicted, lastEvicted - place))
}
