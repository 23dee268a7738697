import type { CallToolResult } from '@modelcontextprotocol/server'
import { estimateTokens, type Tool } from '@unfold-mcp/core'
import { testContext } from '@unfold-mcp/server/testing'
import { type Catalogue, spread } from './catalogues.ts'
import { callTokens, listTokens, mean, median, textOf, tokensOf } from './cost.ts'

/** Cost of one catalogue with each exposure, in o200k_base tokens. */
export interface Measured {
  readonly name: string
  readonly tools: number
  readonly servers: number
  /** All definitions. */
  readonly full: number
  /** `manage_tools`, one search with it, two tools enabled and listed. */
  readonly lazy: number
  /** Activators, and one group activated and listed: the median and the most expensive group. */
  readonly groups: { readonly median: number; readonly most: number } | undefined
  /** `search_tools`, `describe_tools` and `call_tool`, without any call. */
  readonly surface: number
  /** One search with five signatures, then two definitions. */
  readonly perSearch: number
  /** Number of searches that cost as much as the full list. */
  readonly breakEven: number
  /** Number of average tools that cost as much as the surface tools and 1, 3 and 10 searches. */
  readonly worthFrom: readonly number[]
  /** Median reply of `search_tools` with five matches: its text, and the whole reply. */
  readonly reply: { readonly text: number; readonly whole: number; readonly replies: number }
  /** Error of the estimate: for the full list, and for one tool at the median and the 95th percentile. */
  readonly estimate: { readonly list: number; readonly median: number; readonly p95: number }
}

export const searchCounts = [1, 3, 10] as const

/** Returns the cost of the search exposure with this number of searches. */
export const searching = ({ surface, perSearch }: Measured, searches: number): number =>
  Math.round(surface + searches * perSearch)

export async function measured(catalogue: Catalogue, queryCount: number): Promise<Measured> {
  const { name, tools, servers } = catalogue
  const queries = spread(catalogue.queries, queryCount)
  await using whole = await testContext(catalogue.toolbox, { view: 'exposure=everything' })
  const list = whole.tools()
  const full = listTokens(list)
  const found = await searched(catalogue, queries)
  const perSearch = mean(found.costs)
  const perTool = full / tools
  return {
    name,
    tools,
    servers: servers.length,
    full,
    lazy: await lazily(catalogue, queries),
    groups: servers.length > 1 ? await grouped(catalogue, queryCount) : undefined,
    surface: found.surface,
    perSearch: Math.round(perSearch),
    breakEven: Math.max(0, (full - found.surface) / perSearch),
    worthFrom: searchCounts.map((count) => Math.ceil((found.surface + count * perSearch) / perTool)),
    reply: found.reply,
    estimate: estimateOf(list),
  }
}

async function searched({ toolbox }: Catalogue, queries: readonly string[]) {
  await using client = await testContext(toolbox, { era: 'stateless', view: 'exposure=search' })
  const surface = listTokens(client.tools())
  const costs: number[] = []
  const five: { text: number; whole: number }[] = []
  for (const query of queries) {
    const reply = await client.call('search_tools', { query })
    const names = namesIn(reply)
    const wanted = { names: names.slice(0, 2) }
    const described = wanted.names.length === 0 ? 0 : callTokens(wanted, await client.call('describe_tools', wanted))
    costs.push(callTokens({ query }, reply) + described)
    if (names.length === 5) five.push({ text: tokensOf(textOf(reply)), whole: tokensOf(JSON.stringify(reply)) })
  }
  const reply = {
    text: median(five.map(({ text }) => text)),
    whole: median(five.map(({ whole }) => whole)),
    replies: five.length,
  }
  return { surface, costs, reply }
}

async function lazily({ toolbox }: Catalogue, queries: readonly string[]): Promise<number> {
  const costs: number[] = []
  for (const query of queries) {
    await using client = await testContext(toolbox, { view: 'exposure=lazy' })
    const looking = { action: 'search', query }
    const found = await client.call('manage_tools', looking)
    const enabling = { action: 'enable', tools: namesIn(found).slice(0, 2) }
    const enabled = enabling.tools.length === 0 ? 0 : callTokens(enabling, await client.call('manage_tools', enabling))
    costs.push(listTokens(client.tools()) + callTokens(looking, found) + enabled)
  }
  return Math.round(mean(costs))
}

async function grouped({ toolbox, servers }: Catalogue, count: number): Promise<{ median: number; most: number }> {
  const costs: number[] = []
  for (const server of spread(servers, count)) {
    await using client = await testContext(toolbox, { view: 'exposure=groups' })
    const reply = await client.call(`activate_${server}`)
    costs.push(listTokens(client.tools()) + callTokens({}, reply))
  }
  return { median: median(costs), most: Math.max(...costs) }
}

function namesIn({ structuredContent }: CallToolResult): readonly string[] {
  const { names } = (structuredContent ?? {}) as { names?: unknown }
  return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : []
}

function estimateOf(tools: readonly Tool[]): Measured['estimate'] {
  const texts = tools.map(({ name, title, description, inputSchema }) =>
    JSON.stringify({ name, title, description, inputSchema }),
  )
  const off = texts.map((text) => ({ real: tokensOf(text), guess: estimateTokens(text) }))
  const apart = off.map(({ real, guess }) => Math.abs(guess - real) / real).sort((a, b) => a - b)
  const sum = (of: 'real' | 'guess') => off.reduce((total, each) => total + each[of], 0)
  return { list: sum('guess') / sum('real') - 1, median: median(apart), p95: apart[Math.floor(apart.length * 0.95)] ?? 0 }
}
