import { normalForm, printable } from '@unfold-mcp/core'
import { lookKey } from '../names/naming.ts'
import { type Suspicion, suspicionOf } from './finding.ts'

/** A tool, as far as it can be taken for another. */
export interface Described {
  readonly server: string
  readonly tool: string
  readonly description: string
}

// Of so many words at least, because short descriptions are alike by chance; and so many of them in common, of all in both.
const fewestWords = 10
const likeness = 0.85
const mostWords = 500
const mostCharacters = 20_000
const mostOfName = 40
const mostOfServer = 5

export interface CloneOptions {
  /** Which servers are one. */
  readonly isSame: (server: string, other: string) => boolean
  /** Lets others work, now and then. */
  readonly breathe: () => Promise<void>
}

/** The tools of different servers that have one name and nearly the same description. */
export async function clonesAmong<T extends Described>(
  tools: Iterable<T>,
  { isSame, breathe }: CloneOptions,
): Promise<ReadonlyMap<T, Suspicion>> {
  const byName = new Map<string, T[]>()
  for (const each of tools) {
    const key = lookKey(each.tool)
    const others = byName.get(key)
    if (others === undefined) byName.set(key, [each])
    else if (others.length < mostOfName && others.filter(({ server }) => server === each.server).length < mostOfServer)
      others.push(each)
  }
  const found = new Map<T, Suspicion>()
  for (const [, group] of byName) {
    if (new Set(group.map(({ server }) => server)).size < 2) continue
    await breathe()
    const words = group.map(({ description }) => wordsOf(description))
    for (const [at, one] of group.entries())
      for (const [next, other] of group.entries()) {
        if (next <= at || one.server === other.server || isSame(one.server, other.server)) continue
        if (!areAlike(words[at], words[next])) continue
        for (const [mine, theirs] of [
          [one, other],
          [other, one],
        ] as const)
          if (!found.has(mine)) found.set(mine, cloneOf(mine, theirs))
      }
  }
  return found
}

function cloneOf({ description }: Described, { server, tool }: Described): Suspicion {
  const about = `is nearly that of the tool "${printable(tool)}" of the server "${printable(server)}", under the same name`
  return suspicionOf('clone', { surface: 'description', excerpt: description.slice(0, 500), about })
}

function wordsOf(text: string): ReadonlySet<string> {
  const words = new Set<string>()
  let left = mostWords
  for (const [word] of normalForm(text.slice(0, mostCharacters), 'NFKC')
    .toLowerCase()
    .matchAll(/[\p{L}\p{N}]+/gu)) {
    words.add(word)
    if (--left === 0) break
  }
  return words
}

function areAlike(one: ReadonlySet<string> = new Set(), other: ReadonlySet<string> = new Set()): boolean {
  if (one.size < fewestWords || other.size < fewestWords) return false
  let common = 0
  for (const word of one) if (other.has(word)) common++
  return common / (one.size + other.size - common) >= likeness
}
