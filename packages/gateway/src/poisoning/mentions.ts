import { printable } from '@unfold-mcp/core'
import { type Finding, findingOf } from './finding.ts'
import type { JoinedText } from './joined-text.ts'

/** A part of a text that gives an order about using something, with the words in it. */
export interface Instruction {
  readonly surface: string
  readonly shown: string
  /** The same as it is compared. */
  readonly words: string
}

/** How many orders of one definition are kept; whoever gives more is told of. */
export const maxInstructions = 200

// How far from an order a name still belongs to it. Orders that stand so close to the one before are seen with it.
const reach = 200
const step = 60
// How many words may stand between a server and its tool.
const nearby = 6

const order =
  /\b(?:before|prior\sto|instead\sof|rather\sthan|whenever|every\stime|each\stime|always|never|must|do\snot|don['’]?t|first|when)\b/g
const use = /\b(?:us(?:e|es|ed|ing)|call(?:s|ed|ing)?|invok(?:e|es|ed|ing)|run(?:s|ning)?|execut(?:e|es|ed|ing)|tools?)\b/
const diverts =
  /\b(?:when(?:ever)?|before|after|every\stime|each\stime|if)\b[^\0.]{0,60}\b(?:tool|is|are|using|calling|use|call|invoking|running)\b[^\0]{0,120}\b(?:must|always|chang(?:e|ed|ing)|replac(?:e|ed|ing)|redirect(?:ed|ing)?|send\sall|also\ssend|bcc)\b/
const name = /[a-z0-9_][a-z0-9_.:/-]*/g

/** The orders that the texts of a definition give. Whether they are about tools of others is seen when those are known. */
export function findInstructions(reading: JoinedText): readonly Instruction[] {
  const orders: Instruction[] = []
  let last = Number.NEGATIVE_INFINITY
  let surface = ''
  for (const { index } of reading.words.matchAll(order)) {
    const at = reading.surfaceAt(index)
    if (index - last < step && at === surface) continue
    last = index
    surface = at
    const part = reading.around(index, reach)
    if (use.test(part.words)) orders.push({ surface, ...part })
    if (orders.length === maxInstructions) break
  }
  return orders
}

/** All tools by their own names, to find those that a text means. */
export class ToolMentions {
  /** By the names that a server may be called. */
  readonly #servers = new Map<string, { readonly server: string; readonly tools: Map<string, string> }>()
  /** Those that are no plain words, with whose they are. */
  readonly #tools = new Map<string, Set<string>>()

  add(server: string, slug: string, tools: Iterable<string>): void {
    const own = new Map([...tools].map((tool) => [tool.toLowerCase(), tool]))
    for (const called of [server, slug]) this.#servers.set(called.toLowerCase(), { server, tools: own })
    for (const [small, tool] of own) {
      if (!isDistinctive(tool)) continue
      const owners = this.#tools.get(small)
      if (owners === undefined) this.#tools.set(small, new Set([server]))
      else owners.add(server)
    }
  }

  /** What this order of a server says of a tool of another, if it does. */
  finding(from: string, given: Instruction): Finding | undefined {
    const words = [...given.words.matchAll(name)].map(([word]) => word.replace(/[.:/-]+$/u, ''))
    const meant = this.#explicit(from, words) ?? this.#near(from, words) ?? this.#bare(from, words, given)
    if (meant === undefined) return undefined
    const about = `says how the tool "${printable(meant.tool)}" of the server "${printable(meant.server)}" is to be used`
    return findingOf('shadowing', { surface: given.surface, excerpt: excerptOf(given.shown, meant.tool), about })
  }

  /** `server__tool`, `server:tool`, `server.tool`, `server/tool`. */
  #explicit(from: string, words: readonly string[]): Mention | undefined {
    for (const word of words) {
      const parts = word.split(/__|[:./]/u).slice(0, 8)
      for (const [at, part] of parts.entries()) {
        const found = this.#servers.get(part)
        const tool = found?.tools.get(parts[at + 1] ?? '')
        if (found !== undefined && tool !== undefined && found.server !== from) return { server: found.server, tool }
      }
    }
    return undefined
  }

  /** The name of a server, and close to it that of a tool of its own that is no plain word. */
  #near(from: string, words: readonly string[]): Mention | undefined {
    for (const [at, word] of words.entries()) {
      const found = this.#servers.get(word)
      if (found === undefined || found.server === from) continue
      for (const other of words.slice(Math.max(0, at - nearby), at + nearby + 1)) {
        const tool = found.tools.get(other)
        if (tool !== undefined && isDistinctive(tool) && !this.#has(from, other)) return { server: found.server, tool }
      }
    }
    return undefined
  }

  /** The name alone, which is no plain word, of a tool of others, where something is to be done otherwise than with it. */
  #bare(from: string, words: readonly string[], given: Instruction): Mention | undefined {
    for (const word of words) {
      const owners = this.#tools.get(word)
      const [server] = owners ?? []
      if (owners === undefined || server === undefined || owners.has(from)) continue
      return diverts.test(given.words) ? { server, tool: word } : undefined
    }
    return undefined
  }

  #has(server: string, tool: string): boolean {
    return this.#tools.get(tool)?.has(server) === true
  }
}

interface Mention {
  readonly server: string
  readonly tool: string
}

/** Whether nobody writes this by chance: `create_issue` and `createIssue`, not `search`. */
const isDistinctive = (tool: string): boolean => /[_-]|[a-z][A-Z]/u.test(tool)

const shownBefore = 60

/** The part of a text in which a name stands. */
function excerptOf(text: string, mentioned: string): string {
  const at = text.toLowerCase().indexOf(mentioned.toLowerCase()) - shownBefore
  return at > 0 ? text.slice(at).replace(/^\S*\s?/u, '') : text
}
