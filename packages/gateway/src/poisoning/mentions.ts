import { printable } from '@unfold-mcp/core'
import { type Finding, findingOf } from './finding.ts'
import type { JoinedText } from './joined-text.ts'

/** A passage that tells the model how to use something. */
export interface Instruction {
  readonly path: string
  readonly text: string
  readonly normalized: string
}

/** Maximum per definition; more cause a finding. */
export const maxInstructions = 200

// Context around an instruction.
const reach = 200
// Instructions closer than this are examined together.
const minDistance = 60
// Maximum number of words between a server and its tool.
const nearby = 6

const imperative =
  /\b(?:before|prior\sto|instead\sof|rather\sthan|whenever|every\stime|each\stime|always|never|must|do\snot|don['’]?t|first|when)\b/g
const use = /\b(?:us(?:e|es|ed|ing)|call(?:s|ed|ing)?|invok(?:e|es|ed|ing)|run(?:s|ning)?|execut(?:e|es|ed|ing)|tools?)\b/
const redirects =
  /\b(?:when(?:ever)?|before|after|every\stime|each\stime|if)\b[^\0.]{0,60}\b(?:tool|is|are|using|calling|use|call|invoking|running)\b[^\0]{0,120}\b(?:must|always|chang(?:e|ed|ing)|replac(?:e|ed|ing)|redirect(?:ed|ing)?|send\sall|also\ssend|bcc|call\sthis\stool\sfirst)\b/
const name = /[a-z0-9_][a-z0-9_.:/-]*/g

/** Finds instructions in a definition, whatever tool they refer to. */
export function findInstructions(joined: JoinedText): readonly Instruction[] {
  const instructions: Instruction[] = []
  let last = Number.NEGATIVE_INFINITY
  let path = ''
  for (const { index } of joined.normalized.matchAll(imperative)) {
    const pathHere = joined.pathAt(index)
    if (index - last < minDistance && pathHere === path) continue
    last = index
    path = pathHere
    const context = joined.around(index, reach)
    if (use.test(context.normalized)) instructions.push({ path, ...context })
    if (instructions.length === maxInstructions) break
  }
  return instructions
}

/** Finds mentions of other servers' tools in instructions. */
export class ToolMentions {
  /** By name and slug. */
  readonly #servers = new Map<string, { readonly server: string; readonly tools: Map<string, string> }>()
  /** Distinctive tool names with their servers. */
  readonly #tools = new Map<string, Set<string>>()

  add(server: string, slug: string, tools: Iterable<string>): void {
    const own = new Map([...tools].map((tool) => [tool.toLowerCase(), tool]))
    for (const alias of [server, slug]) this.#servers.set(alias.toLowerCase(), { server, tools: own })
    for (const [key, tool] of own) {
      if (!isDistinctive(tool)) continue
      const owners = this.#tools.get(key)
      if (owners === undefined) this.#tools.set(key, new Set([server]))
      else owners.add(server)
    }
  }

  /** Returns a finding if an instruction of server `from` concerns a tool of another server. */
  finding(from: string, instruction: Instruction): Finding | undefined {
    const words = [...instruction.normalized.matchAll(name)].map(([word]) => word.replace(/[.:/-]+$/u, ''))
    const mention = this.#qualified(from, words) ?? this.#near(from, words) ?? this.#bare(from, words, instruction)
    if (mention === undefined) return undefined
    const { server, tool } = mention
    const description = `gives instructions for the tool "${printable(tool)}" of the server "${printable(server)}"`
    return findingOf('shadowing', { path: instruction.path, excerpt: excerptOf(instruction.text, tool), description })
  }

  /** `server__tool`, `server:tool`, `server.tool`, `server/tool`. */
  #qualified(from: string, words: readonly string[]): Mention | undefined {
    for (const word of words) {
      const parts = word.split(/__|[:./]/u).slice(0, 8)
      for (const [at, part] of parts.entries()) {
        const match = this.#servers.get(part)
        const tool = match?.tools.get(parts[at + 1] ?? '')
        if (match !== undefined && tool !== undefined && match.server !== from) return { server: match.server, tool }
      }
    }
    return undefined
  }

  /** The name of a server close to a distinctive name of one of its tools. */
  #near(from: string, words: readonly string[]): Mention | undefined {
    for (const [at, word] of words.entries()) {
      const match = this.#servers.get(word)
      if (match === undefined || match.server === from) continue
      for (const other of words.slice(Math.max(0, at - nearby), at + nearby + 1)) {
        const tool = match.tools.get(other)
        if (tool !== undefined && isDistinctive(tool) && !this.#has(from, other)) return { server: match.server, tool }
      }
    }
    return undefined
  }

  /** A distinctive tool name alone, in an instruction that redirects its use. */
  #bare(from: string, words: readonly string[], instruction: Instruction): Mention | undefined {
    for (const word of words) {
      const owners = this.#tools.get(word)
      const [server] = owners ?? []
      if (owners === undefined || server === undefined || owners.has(from)) continue
      return redirects.test(instruction.normalized) ? { server, tool: word } : undefined
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

/** True for names that do not occur in prose by chance: `create_issue` and `createIssue`, not `search`. */
const isDistinctive = (tool: string): boolean => /[_-]|[a-z][A-Z]/u.test(tool)

const excerptBefore = 60

function excerptOf(text: string, mentioned: string): string {
  const at = text.toLowerCase().indexOf(mentioned.toLowerCase()) - excerptBefore
  return at > 0 ? text.slice(at).replace(/^\S*\s?/u, '') : text
}
