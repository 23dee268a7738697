import { confusableKey, normalForm, printable } from '@unfold-mcp/core'
import { type Finding, findingOf } from './finding.ts'

export interface DescribedTool {
  readonly server: string
  readonly tool: string
  readonly description: string
}

// Short descriptions are similar by chance.
const minWords = 10
const similarityThreshold = 0.85
const maxWords = 500
const maxCharacters = 20_000
const maxPerName = 40
const maxPerServer = 5

export interface CloneOptions {
  /** True if two servers run the same program. */
  readonly isSameProgram: (server: string, other: string) => boolean
  readonly yieldToEventLoop: () => Promise<void>
}

/** Finds tools of different servers with a similar name and a nearly identical description. */
export async function findClones<T extends DescribedTool>(
  tools: Iterable<T>,
  { isSameProgram, yieldToEventLoop }: CloneOptions,
): Promise<ReadonlyMap<T, Finding>> {
  const byName = new Map<string, T[]>()
  for (const each of tools) {
    const key = confusableKey(each.tool)
    const others = byName.get(key)
    if (others === undefined) byName.set(key, [each])
    else if (others.length < maxPerName && others.filter(({ server }) => server === each.server).length < maxPerServer)
      others.push(each)
  }
  const clones = new Map<T, Finding>()
  for (const [, group] of byName) {
    if (new Set(group.map(({ server }) => server)).size < 2) continue
    await yieldToEventLoop()
    const words = group.map(({ description }) => wordSet(description))
    for (const [i, one] of group.entries())
      for (const [j, other] of group.entries()) {
        if (j <= i || one.server === other.server || isSameProgram(one.server, other.server)) continue
        if (!areSimilar(words[i], words[j])) continue
        if (!clones.has(one)) clones.set(one, cloneFinding(one, other))
        if (!clones.has(other)) clones.set(other, cloneFinding(other, one))
      }
  }
  return clones
}

function cloneFinding({ description: text }: DescribedTool, { server, tool }: DescribedTool): Finding {
  const description = `is nearly identical to that of "${printable(tool)}" on the server "${printable(server)}"`
  return findingOf('clone', { path: 'description', excerpt: text.slice(0, 500), description })
}

function wordSet(text: string): ReadonlySet<string> {
  const words = new Set<string>()
  let remaining = maxWords
  for (const [word] of normalForm(text.slice(0, maxCharacters), 'NFKC')
    .toLowerCase()
    .matchAll(/[\p{L}\p{N}]+/gu)) {
    words.add(word)
    if (--remaining === 0) break
  }
  return words
}

function areSimilar(one: ReadonlySet<string> = new Set(), other: ReadonlySet<string> = new Set()): boolean {
  if (one.size < minWords || other.size < minWords) return false
  let common = 0
  for (const word of one) if (other.has(word)) common++
  return common / (one.size + other.size - common) >= similarityThreshold
}
