import { estimateTokens, Failure, hostById, nearest, nearestHint, printable, type Tool, toolTokens } from '@unfold-mcp/core'
import type { Preview } from '@unfold-mcp/server'
import type { Client } from '../access/access.ts'
import type { Gateway } from '../gateway/gateway.ts'
import { matcher } from '../names/pattern.ts'
import type { ClientView, ExcludedTool, ViewQuery, Visibility, VisibilityCause } from './contract.ts'

/** Reads a hypothetical client from the query of a request. */
export function viewQuery(params: URLSearchParams): ViewQuery {
  const names = ['token', 'profile', 'server', 'query', 'activate', 'search'] as const
  const given = names.flatMap((name) => {
    const value = params.get(name)
    return value === null || value === '' ? [] : [[name, value] as const]
  })
  return { ...Object.fromEntries(given), era: params.get('era') === 'stateless' ? 'stateless' : 'session' }
}

interface Previewed {
  readonly client: Client
  readonly preview: Preview
}

/** Throws a `Failure` if the token, profile or server does not exist. */
async function previewed(
  gateway: Gateway,
  { era = 'session', token, profile, server, query, activate, search }: ViewQuery,
): Promise<Previewed> {
  const { tokens } = gateway.config
  const record = tokens.find(({ name, role }) => name === token && role === undefined)
  const host = token === undefined || record !== undefined ? undefined : hostById(token)
  if (token !== undefined && record === undefined && host === undefined) {
    const clients = tokens.filter(({ role }) => role === undefined).map(({ name }) => name)
    throw new Failure('unauthorized', `No client token "${printable(token)}".${nearestHint(nearest(token, clients))}`, {
      scheme: 'Bearer',
    })
  }
  const client = gateway.access.client(record, profile, server)
  const preview = await gateway.toolboxes.of(client).preview({
    era,
    principal: client,
    ...((query !== undefined || host !== undefined) && { view: viewFor(host?.id, query) }),
    ...(activate !== undefined && { activate: namesIn(activate) }),
    ...(search !== undefined && { search }),
  })
  return { client, preview }
}

/** The query of the address with its host, unless it names one itself. */
function viewFor(host: string | undefined, query = ''): string {
  const params = new URLSearchParams(query)
  return host === undefined || params.has('host') ? query : [`host=${host}`, query].filter((part) => part !== '').join('&')
}

const maxActivated = 100

const namesIn = (list: string): readonly string[] =>
  list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
    .slice(0, maxActivated)

/** The list of a client that connects now, exactly as sent. */
export async function clientView(gateway: Gateway, query: ViewQuery): Promise<ClientView> {
  const { client, preview } = await previewed(gateway, query)
  const { exposure, reason, budgetTokens, instructions, listed, all, listedTokens, allTokens, groups, canActivate, search } =
    preview
  const servers = serversByTool(gateway, query.server)
  const named = (tool: Tool) => ({ tokens: toolTokens(tool), ...upstreamOf(tool) })
  const upstreamOf = ({ name }: { readonly name: string }): { readonly upstream?: string } => {
    const upstream = servers.get(name)
    return upstream === undefined ? {} : { upstream }
  }
  const listedNames = new Set(listed.map(({ name }) => name))
  return {
    era: query.era ?? 'session',
    exposure,
    reason,
    ...(budgetTokens !== undefined && { budgetTokens }),
    ...(instructions !== undefined && { instructions }),
    instructionTokens: estimateTokens(instructions ?? ''),
    listedTokens,
    allTokens,
    listed: listed.map((tool) => ({ definition: tool, ...named(tool) })),
    excluded: excludedTools(gateway, client, all),
    unlisted: all.filter(({ name }) => !listedNames.has(name)).map((tool) => ({ name: tool.name, ...named(tool) })),
    groups,
    canActivate,
    ...(search !== undefined && {
      search: { ...search, matches: search.matches.map((match) => ({ ...match, ...upstreamOf(match) })) },
    }),
  }
}

function serversByTool({ source }: Gateway, server: string | undefined): ReadonlyMap<string, string> {
  if (server === undefined) return new Map(source.entries().map(({ tool, source: upstream }) => [tool.name, upstream]))
  return new Map(source.entriesOf(server).map(({ tool }) => [source.originalName(server, tool.name) ?? tool.name, server]))
}

const maxExcluded = 2_000

/** Tools of servers that the client cannot use, each with the first check that stops it. */
function excludedTools(gateway: Gateway, client: Client, all: readonly Tool[]): readonly ExcludedTool[] {
  const { upstreams, source } = gateway
  const usable = new Set(all.map(({ name }) => name))
  const servers = client.server === undefined ? upstreams.names : [client.server]
  const found: ExcludedTool[] = []
  for (const upstream of servers)
    for (const { name: original } of upstreams.get(upstream)?.tools ?? []) {
      const tool = source.toolOf(upstream, original)
      if (tool !== undefined && usable.has(client.server === undefined ? tool.name : original)) continue
      const stop = checksOf(gateway, client, upstream, original).find(({ isPassed }) => !isPassed)
      if (stop === undefined) continue
      found.push({
        name: tool?.name ?? `${printable(upstream)}__${printable(original)}`,
        upstream,
        cause: stop.check,
        reason: stop.detail,
      })
      if (found.length === maxExcluded) return found
    }
  return found
}

/** All checks but the last one, which is about the list of one client. */
function checksOf(gateway: Gateway, client: Client, upstream: string, original: string): readonly Check[] {
  const tool = gateway.source.toolOf(upstream, original)
  const trusted = trust(gateway, upstream, original)
  return [
    availability(gateway, upstream, original),
    trusted,
    // A held or blocked tool has no name for clients, which says nothing about the configuration.
    ...(trusted.isPassed || tool !== undefined ? [naming(gateway, upstream, original)] : []),
    ...(tool === undefined ? [] : [permission(gateway, client, tool, upstream), policy(gateway, client, tool, upstream)]),
  ]
}

/** Why a client does or does not see a tool: by its name for clients, or `<server>/<name on the server>`. */
export async function visibility(gateway: Gateway, name: string, query: ViewQuery): Promise<Visibility> {
  const { client, preview } = await previewed(gateway, query)
  const own = preview.listed.find((tool) => tool.name === name)
  const found = locate(gateway, name)
  if (found === undefined && own !== undefined)
    return answer(name, [passed('availability', 'The gateway adds this tool itself.'), passed('attention', 'It is listed.')])
  if (found === undefined) {
    const near = nearest(
      name,
      [...gateway.source.entries()].map(({ tool }) => tool.name),
    )
    return answer(name, [failed('unknown', `No server offers a tool "${printable(name)}".${nearestHint(near)}`, 'unfold status')])
  }
  const { upstream, original } = found
  const tool = gateway.source.toolOf(upstream, original)
  const checks = [
    ...checksOf(gateway, client, upstream, original),
    ...(tool === undefined ? [] : [attention(preview, client.server === undefined ? tool.name : original)]),
  ]
  return answer(name, checks, { upstream, ...(tool !== undefined && { exposedName: tool.name }) })
}

interface Check {
  readonly check: VisibilityCause
  readonly isPassed: boolean
  readonly detail: string
  readonly next?: string
}

const passed = (check: VisibilityCause, detail: string): Check => ({ check, isPassed: true, detail })
const failed = (check: VisibilityCause, detail: string, next?: string): Check => ({
  check,
  isPassed: false,
  detail,
  ...(next !== undefined && { next }),
})

function answer(tool: string, checks: readonly Check[], more: Pick<Visibility, 'upstream' | 'exposedName'> = {}): Visibility {
  const first = checks.find(({ isPassed }) => !isPassed)
  const reason = first?.detail ?? checks.at(-1)?.detail ?? ''
  return {
    tool,
    ...more,
    isListed: first === undefined,
    isUsable: first === undefined || first.check === 'attention',
    cause: first?.check ?? 'listed',
    reason,
    ...(first?.next !== undefined && { next: first.next }),
    checks: checks.map(({ check, isPassed, detail }) => ({ check, isPassed, detail })),
  }
}

function locate(
  { source, upstreams }: Gateway,
  name: string,
): { readonly upstream: string; readonly original: string } | undefined {
  const entry = source.entries().find(({ tool }) => tool.name === name)
  if (entry !== undefined) return { upstream: entry.source, original: source.originalName(entry.source, entry.tool.name) ?? name }
  for (const upstream of upstreams.names) {
    // An excluded tool has no name for clients; people ask for the name that it would have.
    const prefix = [`${upstream}/`, `${upstream}__`].find((each) => name.startsWith(each)) ?? ''
    const original = name.slice(prefix.length)
    if (upstreams.get(upstream)?.tools.some((tool) => tool.name === original)) return { upstream, original }
  }
  return undefined
}

function availability({ upstreams, config }: Gateway, server: string, original: string): Check {
  const upstream = upstreams.get(server)
  const name = printable(server)
  if (config.mcpServers[server]?.disabled === true)
    return failed('availability', `Server "${name}" is disabled.`, `unfold enable ${name}`)
  const isOffered = upstream?.tools.some((tool) => tool.name === original) === true
  if (!isOffered) return failed('availability', `Server "${name}" does not offer it (${upstream?.state}).`, `unfold logs ${name}`)
  return passed('availability', `Server "${name}" offers it (${upstream.state}).`)
}

function trust({ trust: gate }: Gateway, server: string, original: string): Check {
  const isThis = (item: { readonly kind: string; readonly name: string }): boolean =>
    item.kind === 'tool' && item.name === original
  const next = `unfold review ${printable(server)}`
  if (gate.blocked(server).some(isThis)) return failed('trust', 'A person blocked this definition.', next)
  const reviewable = gate.reviewables(server).find(({ state, item }) => state === 'held' && isThis(item))
  if (reviewable !== undefined || gate.isHeld(server))
    return failed('trust', 'The definition is new or changed and waits for review.', next)
  return passed('trust', 'The definition is accepted.')
}

function naming({ source, config }: Gateway, server: string, original: string): Check {
  if (source.toolOf(server, original) !== undefined) return passed('name', 'It has a name of its own, within the limits.')
  const note = source.notes(server).find(({ tool, kind }) => kind === 'left_out' && (tool === printable(original) || tool === ''))
  if (note !== undefined) return failed('name', note.message, `unfold status ${printable(server)}`)
  const { allow, deny = [] } = config.mcpServers[server] ?? {}
  const isAllowed = allow === undefined || matcher(allow)(original)
  const denied = deny.filter((pattern) => matcher([pattern])(original))
  if (!isAllowed)
    return failed('name', 'It is not in "allow" of its server.', setCommand(server, 'allow', [...(allow ?? []), original]))
  if (denied.length === 0) return failed('name', 'Its entry in "tools" of the server disables it.')
  return failed(
    'name',
    `"deny" of its server excludes it: ${denied.map((pattern) => printable(pattern)).join(', ')}`,
    setCommand(
      server,
      'deny',
      deny.filter((pattern) => !denied.includes(pattern)),
    ),
  )
}

/** The command for an edit, unless a name needs more than single quotes. */
function setCommand(server: string, key: string, patterns: readonly string[]): string | undefined {
  const value = `${key}=${JSON.stringify(patterns)}`
  return /^[\w.-]+$/u.test(server) && /^[\w*"[\],=./@:-]+$/u.test(value) ? `unfold set ${server} '${value}'` : undefined
}

function permission({ access }: Gateway, client: Client, tool: Tool, server: string): Check {
  if (access.permits(client, tool, { source: server, group: server })) return passed('permission', 'The client may use it.')
  if (client.server !== undefined && client.server !== server)
    return failed('permission', `The client is connected to the server "${printable(client.server)}" only.`)
  return failed(
    'permission',
    `The profile "${printable(client.profile ?? '')}" does not include it.`,
    `Edit profiles.${printable(client.profile ?? '')} in unfold.json`,
  )
}

function policy(gateway: Gateway, client: Client, tool: Tool, server: string): Check {
  return gateway.isDenied(client, server, tool)
    ? failed('policy', 'The policy denies it with any arguments.', `unfold policy test ${printable(tool.name)}`)
    : passed('policy', 'The policy does not deny it outright.')
}

function attention({ listed, all, exposure, reason }: Preview, name: string): Check {
  if (listed.some((tool) => tool.name === name)) return passed('attention', `It is listed (${exposure}: ${reason}).`)
  if (all.some((tool) => tool.name === name))
    return failed('attention', `It can be searched and called, but is not listed (${exposure}: ${reason}).`, 'unfold preview')
  return failed('attention', "The view of the client's URL does not include it.")
}
