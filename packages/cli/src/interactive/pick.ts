import { autocomplete } from '@clack/prompts'
import { documentOf, firstSentence, SearchIndex, type Tool } from '@unfold-mcp/core'
import { CommandError, exit } from '../base/exit.ts'
import type { Io } from '../base/io.ts'
import { safeText } from '../text/safe.ts'
import { fitted, padded } from '../text/wrap.ts'
import { promptTerminal, requireAnswer } from './terminal.ts'

const maxMatches = 200
const maxShown = 12
const maxReadLength = 500
const widestName = 32
// Width of the prompt prefix.
const margin = 8

/** Searchable list of tools. */
export async function pickTool(tools: readonly Tool[], io: Io): Promise<Tool> {
  if (tools.length === 0) throw new CommandError(exit.tool, 'no_tools', 'The server has no tools.')
  const find = toolFinder(tools)
  const label = labels(tools, (io.stderr.columns ?? 80) - margin)
  const options = memoizeLast((query) => find(query).map((tool) => ({ value: { tool }, label: label(tool) })))
  const chosen = await autocomplete<{ readonly tool: Tool }>({
    message: `Select a tool (${tools.length})`,
    options() {
      return options(this.userInput)
    },
    // Options are already filtered.
    filter: () => true,
    maxItems: maxShown,
    validate: (value) => (value === undefined ? 'No match. Shorten the search, or press Esc.' : undefined),
    ...promptTerminal(io),
  })
  return requireAnswer(chosen).tool
}

/** Ranking: name prefix, name, description, then full-text search. */
function toolFinder(tools: readonly Tool[]): (query: string) => readonly Tool[] {
  const index = new SearchIndex()
  for (const [id, tool] of tools.entries()) index.set(documentOf(tool, { id: String(id), source: '' }))
  const names = tools.map(({ name, title }) => `${name} ${title ?? ''}`.toLowerCase())
  const texts = tools.map(({ description }) => (description ?? '').slice(0, maxReadLength).toLowerCase())
  return (query) => {
    const typed = query.trim().toLowerCase()
    if (typed === '') return tools.slice(0, maxMatches)
    const byPrefix = tools.filter((_, at) => names[at]?.startsWith(typed) === true)
    const byName = tools.filter((_, at) => names[at]?.includes(typed) === true)
    const byDescription = tools.filter((_, at) => texts[at]?.includes(typed) === true)
    const { matches } = index.search(typed, { limit: maxMatches, perSource: maxMatches })
    const bySearch = matches.flatMap(({ id }) => tools[Number(id)] ?? [])
    return [...new Set([...byPrefix, ...byName, ...byDescription, ...bySearch])].slice(0, maxMatches)
  }
}

/** The prompt asks several times per key press; new objects for a new query reset its selection. */
function memoizeLast<T>(make: (query: string) => T[]): (query: string) => T[] {
  let last: { readonly query: string; readonly found: T[] } | undefined
  return (query) => {
    if (last?.query !== query) last = { query, found: make(query) }
    return last.found
  }
}

function labels(tools: readonly Tool[], width: number): (tool: Tool) => string {
  const longest = tools.reduce((max, { name }) => Math.max(max, name.length), 0)
  const column = Math.min(longest, widestName, Math.max(8, Math.floor(width / 2)))
  return ({ name, title, description }) => {
    const shown = padded(fitted(safeText(name, { limit: 200 }), column), column)
    return fitted(`${shown}  ${safeText(firstSentence(description ?? title ?? ''), { limit: 400 })}`, width).trimEnd()
  }
}
