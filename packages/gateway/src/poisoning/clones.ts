import { normalForm, printable } from '@unfold-mcp/core'
import { lookKey } from '../names/naming.ts'
import { type Finding, findingOf } from './finding.ts'

/** A tool, as far as it can be taken for another. */
export interface DescribedTool {
  readonly server: string
  readonly tool: string
  readonly description: string
}

// Of so many words at least, because short descriptions are alike by chance; and so many of them in common, of all in both.
const minWords = 10
const similarityThreshold = 0.85
const maxWords = 500
const maxCharacters = 20_000
const maxPerName = 40
const maxPerServer = 5

export interface CloneOptions {
  /** Which servers are one. */
  readonly isSame: (server: string, other: string) => boolean
  /** Lets others work, now and then. */
  readonly yieldToEventLoop: () => Promise<void>
}

/** The tools of different servers that have one name and nearly the same description. */
export async function findClones<T extends DescribedTool>(
  tools: Iterable<T>,
  { isSame, yieldToEventLoop }: CloneOptions,
): Promise<ReadonlyMap<T, Finding>> {
  const byName = new Map<string, T[]>()
  for (const each of tools) {
    const key = lookKey(each.tool)
    const others = byName.get(key)
    if (others === undefined) byName.set(key, [each])
    else if (others.length < maxPerName && others.filter(({ server }) => server === each.server).length < maxPerServer)
      others.push(each)
  }
  const found = new Map<T, Finding>()
  for (const [, group] of byName) {
    if (new Set(group.map(({ server }) => server)).size < 2) continue
    await yieldToEventLoop()
    const words = group.map(({ description }) => errorMessage(description))
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

function cloneOf({ description }: DescribedTool, { server, tool }: DescribedTool): Finding {
  const about = `is nearly that of the tool "${printable(tool)}" of the server "${printable(server)}", under the same name`
  return findingOf('clone', { surface: 'description', excerpt: description.slice(0, 500), about })
}

function errorMessage(text: string): ReadonlySet<string> {
  const words = new Set<string>()
  let left = maxWords
  for (const [word] of normalForm(text.slice(0, maxCharacters), 'NFKC')
    .toLowerCase()
    .matchAll(/[\p{L}\p{N}]+/gu)) {
    words.add(word)
    if (--left === 0) break
  }
  return words
}

function areAlike(one: ReadonlySet<string> = new Set(), other: ReadonlySet<string> = new Set()): boolean {
  if (one.size < minWords || other.size < minWords) return false
  let common = 0
  for (const word of one) if (other.has(word)) common++
  return common / (one.size + other.size - common) >= similarityThreshold
}
