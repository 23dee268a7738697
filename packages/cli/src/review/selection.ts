import { nearest, nearestHint } from '@unfold-mcp/core'
import { usageError } from '../base/exit.ts'
import { type Flags, isSet, textsOf } from '../grammar/grammar.ts'
import type { ReviewEntry } from './entry.ts'

export interface Selection {
  readonly approve: readonly ReviewEntry[]
  readonly block: readonly ReviewEntry[]
}

/** What --approve, --block and --approve-harmless select; undefined without them. */
export function selectionFrom(flags: Flags, entries: readonly ReviewEntry[]): Selection | undefined {
  const isHarmless = isSet(flags, 'approve-harmless')
  const names = { approve: textsOf(flags, 'approve'), block: textsOf(flags, 'block') }
  if (names.approve.length + names.block.length === 0 && !isHarmless) return undefined
  const select = (words: readonly string[]): readonly ReviewEntry[] => [
    ...new Set(words.flatMap((word) => matching(word, entries))),
  ]
  const harmless = isHarmless ? entries.filter((entry) => entry.state !== 'blocked' && entry.isHarmless) : []
  const block = select(names.block)
  const named = select(names.approve)
  const both = named.find((entry) => block.includes(entry))
  if (both !== undefined) throw usageError(`${both.id} is selected by both --approve and --block.`)
  return { approve: [...new Set([...named, ...harmless.filter((entry) => !block.includes(entry))])], block }
}

/** A server selects what is not blocked; a blocked entry has to be named. */
function matching(word: string, entries: readonly ReviewEntry[]): readonly ReviewEntry[] {
  const open = entries.filter(({ state }) => state !== 'blocked')
  const ofServer = open.filter(({ server }) => server === word)
  const named = entries.filter(({ id, digest }) => id === word || digest === word)
  if (ofServer.length > 0 && named.length > 0) throw usageError(`"${word}" is both a server and a tool. Use the digest (--json).`)
  if (ofServer.length > 0) return ofServer
  const openNamed = named.filter(({ state }) => state !== 'blocked')
  if (named.length > 0) return openNamed.length > 0 ? openNamed : named
  const known = [...new Set(entries.flatMap(({ server, id }) => [server, id]))]
  throw usageError(`Nothing to review matches "${word}".${nearestHint(nearest(word, known))}`)
}
