import { printable, Ring, type Tool } from '@unfold-mcp/core'
import type { Redactor } from '../../observability/redactor.ts'
import { type Difference, diffDefinitions } from '../../trust/diff.ts'
import type { ToolsChanged } from '../../upstreams/events.ts'
import type { Upstreams } from '../../upstreams/upstreams.ts'

/** One tool in a change of a tool list. */
export interface ToolChange {
  readonly tool: string
  readonly kind: 'added' | 'changed' | 'removed'
  /** Only for a changed tool; truncated to the first few. */
  readonly differences: readonly Difference[]
}

/** An entry of `GET /api/history`: a change of the tool list of a server. */
export interface ListChange {
  readonly at: string
  readonly upstream: string
  readonly changes: readonly ToolChange[]
}

const maxEntries = 200
const maxBytes = 4_194_304
const maxTools = 50
const maxDifferences = 30
// A server that changes a huge schema in a loop must not fill the memory.
const maxCharacters = 20_000

/** The last changes of tool lists, with what changed in each definition. */
export class ToolHistory {
  readonly #entries = new Ring<ListChange>({ entries: maxEntries, bytes: maxBytes }, (entry) => JSON.stringify(entry).length)

  constructor(upstreams: Upstreams, redactor: Redactor) {
    upstreams.events.on('tools', ({ upstream, tools, reads, difference, added }) => {
      // Without a read, the list is empty because the server is disconnected. A list that consists of new tools is the first one.
      if (reads === 0 || added === tools.length) return
      const changes = redactor.data(changesOf(difference)) as readonly ToolChange[]
      this.#entries.push({ at: new Date().toISOString(), upstream, changes })
    })
  }

  /** Oldest first. */
  of(upstream: string | null): readonly ListChange[] {
    return [...this.#entries].filter((entry) => upstream === null || entry.upstream === upstream)
  }
}

function changesOf({ added, removed, changed }: ToolsChanged['difference']): readonly ToolChange[] {
  const named = (kind: ToolChange['kind'], tools: readonly Tool[]): readonly ToolChange[] =>
    tools.slice(0, maxTools).map(({ name }) => ({ tool: printable(name), kind, differences: [] }))
  return [
    ...changed.slice(0, maxTools).map(({ before, after }): ToolChange => {
      return { tool: printable(after.name), kind: 'changed', differences: bounded(diffDefinitions(before, after)) }
    }),
    ...named('added', added),
    ...named('removed', removed),
  ].slice(0, maxTools)
}

function bounded(differences: readonly Difference[]): readonly Difference[] {
  let left = maxCharacters
  return differences.slice(0, maxDifferences).filter((difference) => {
    left -= JSON.stringify(difference).length
    return left >= 0
  })
}
