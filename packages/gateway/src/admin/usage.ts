import { hostProfiles, toolTokens } from '@unfold-mcp/core'
import type { Gateway } from '../gateway/gateway.ts'
import type { ListUsageRow } from '../gateway/list-usage.ts'
import type { CallRecord, Journal } from '../observability/journal.ts'
import type { Usage, UsageRow } from './contract.ts'

interface Sums {
  calls: number
  failures: number
  ms: number
  maxMs: number
  sentCharacters: number
  receivedCharacters: number
}

const maxRows = 5_000

// Outcomes that a client, a person or the configuration decided. All others are failures, such as `error`, `timeout` and `died`.
const intended = new Set([
  'ok',
  'input_required',
  'cancelled',
  'denied',
  'approval_pending',
  'disabled',
  'rate_limited',
  'shutting_down',
])

/** Sums of all calls since the gateway started, by server, tool, client and day. */
export class CallUsage {
  readonly #since = new Date().toISOString()
  readonly #by = {
    server: new Map<string, Sums>(),
    tool: new Map<string, Sums>(),
    client: new Map<string, Sums>(),
    day: new Map<string, Sums>(),
  }

  constructor(journal: Journal) {
    journal.subscribe(({ type, at, data }) => {
      if (type === 'call') this.#add(at.slice(0, 10), data as CallRecord)
    })
  }

  report({ source, lists }: Gateway, nameOf: (id: string) => string): Usage {
    const { server, tool, client, day } = this.#by
    const unused = source.entries().flatMap(({ tool: definition, source: upstream }) => {
      const original = source.originalName(upstream, definition.name) ?? definition.name
      if (tool.has(`${upstream}/${original}`)) return []
      return [{ name: definition.name, upstream, tool: original, tokens: toolTokens(definition) }]
    })
    return {
      since: this.#since,
      byServer: rows(server),
      byTool: rows(tool),
      byClient: rows(client),
      byDay: rows(day),
      lists: lists.rows().map((row) => ({ ...row, ...hostIdOf(row), client: nameOf(row.client) })),
      unused,
    }
  }

  #add(day: string, call: CallRecord): void {
    add(this.#by.server, call.upstream, call)
    add(this.#by.tool, `${call.upstream}/${call.tool}`, call)
    add(this.#by.client, call.client, call)
    add(this.#by.day, day, call)
  }
}

function hostIdOf({ host: title }: ListUsageRow): { readonly hostId?: string } {
  const host = hostProfiles.find((each) => each.title === title)
  return host === undefined ? {} : { hostId: host.id }
}

function add(map: Map<string, Sums>, key: string, { ms, outcome, sentCharacters, receivedCharacters }: CallRecord): void {
  // Clients choose names of tools; one that calls many must not fill the memory.
  if (!map.has(key) && map.size >= maxRows) return
  const sums = map.get(key) ?? { calls: 0, failures: 0, ms: 0, maxMs: 0, sentCharacters: 0, receivedCharacters: 0 }
  sums.calls++
  if (!intended.has(outcome)) sums.failures++
  sums.ms += ms
  sums.maxMs = Math.max(sums.maxMs, ms)
  sums.sentCharacters += sentCharacters
  sums.receivedCharacters += receivedCharacters
  map.set(key, sums)
}

const rows = (map: ReadonlyMap<string, Sums>): readonly UsageRow[] =>
  [...map].map(([key, { ms, ...sums }]) => ({ key, ...sums, meanMs: Math.round(ms / sums.calls) }))
