import { confusableNames, nearest, printable, unambiguous } from '@unfold-mcp/core'
import { parseRedisUrl } from '../base/redis-url.ts'
import { serverSlug } from '../names/naming.ts'
import { listOf } from './policy/schema.ts'
import { sandboxSettings } from './process/sandbox.ts'
import { type Config, isCommandServer, isScriptServer, isUrlServer, type SearchConfig, scriptServerName } from './schema.ts'
import { hasClientTokens } from './tokens.ts'

/** An inconsistency between parts of a configuration that are valid on their own. */
export interface RuleViolation {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

export function ruleViolations(config: Config): readonly RuleViolation[] {
  return [
    ...serverRules(config),
    ...groupRules(config),
    ...profileRules(config),
    ...tokenRules(config),
    ...listenRules(config),
    ...embedders(config).flatMap(embedderRules),
    ...sandboxRules(config),
    ...clusterRules(config),
    ...policyRules(config),
    ...scriptRules(config),
  ]
}

function scriptRules({ scripts, mcpServers }: Config): readonly RuleViolation[] {
  const server = mcpServers[scriptServerName]
  if (typeof scripts !== 'object' || server === undefined || isScriptServer(server)) return []
  return [
    {
      path: ['mcpServers', scriptServerName],
      message: 'has the name of the stored scripts. Rename it, or set "scripts" to false.',
    },
  ]
}

const minSecretLength = 32

function clusterRules({ cluster, mcpServers }: Config): readonly RuleViolation[] {
  if (cluster === undefined) return []
  const { url, secret, advertise } = cluster
  const violations: RuleViolation[] = []
  if (url !== undefined && parseRedisUrl(url) === undefined)
    violations.push({
      path: ['cluster', 'url'],
      message:
        'must be redis://host:port/database, redis+sentinel://host,host/master or redis+cluster://host,host, with rediss for TLS.',
    })
  if (secret === undefined)
    violations.push({
      path: ['cluster'],
      message:
        'needs a secret that all replicas share. Set UNFOLD_CLUSTER_SECRET, for example to the output of "openssl rand -hex 32".',
    })
  else if (secret.length < minSecretLength)
    violations.push({
      path: ['cluster', 'secret'],
      message: `is shorter than ${minSecretLength} characters. Use a random one, for example the output of "openssl rand -hex 32".`,
    })
  if (advertise !== undefined && !isHttpUrl(advertise))
    violations.push({ path: ['cluster', 'advertise'], message: 'must be an http:// or https:// URL.' })
  const placed = Object.entries(mcpServers).filter(([, server]) => isCommandServer(server) && server.placement === 'one')
  for (const [name, { idleStopMs }] of placed)
    if (idleStopMs > 0)
      violations.push({
        path: ['mcpServers', name, 'idleStopMs'],
        message: 'cannot be combined with "placement": "one": the next replica would start the server again.',
      })
  if (url !== undefined) return violations
  const followed = Object.entries(mcpServers).filter(([, server]) => isUrlServer(server) && server.follow === 'one')
  return [
    ...violations,
    ...placed.map(([name]) => ({
      path: ['mcpServers', name, 'placement'],
      message: '"one" needs cluster.url: replicas agree through Redis on where the server runs.',
    })),
    ...followed.map(([name]) => ({
      path: ['mcpServers', name, 'follow'],
      message: '"one" needs cluster.url: replicas take over lists through Redis.',
    })),
  ]
}

/** A misspelt name would be a rule that never applies. */
function policyRules({ policy, mcpServers, profiles, tokens }: Config): readonly RuleViolation[] {
  const known = {
    server: Object.keys(mcpServers),
    profile: Object.keys(profiles),
    token: tokens.filter(({ role }) => role === undefined).map(({ name }) => name),
  }
  return (policy?.rules ?? []).flatMap((rule, index) =>
    (['server', 'profile', 'token'] as const).flatMap((key) => {
      const path = ['policy', 'rules', index, key]
      const names = listOf(rule[key]).map((name, at) => ({ name, path: Array.isArray(rule[key]) ? [...path, at] : path }))
      return names
        .filter(({ name }) => !known[key].includes(name) && !(key === 'server' && name.includes('*')))
        .map((each) => ({ path: each.path, message: unknown(key === 'token' ? 'client token' : key, each.name, known[key]) }))
    }),
  )
}

/** Folders and network of a sandbox that is off would be a limit that does not exist. */
function sandboxRules({ sandbox: all, mcpServers }: Config): readonly RuleViolation[] {
  const configured = [
    { path: ['sandbox'], own: all },
    ...Object.entries(mcpServers).map(([name, server]) => ({
      path: ['mcpServers', name, 'sandbox'],
      own: isCommandServer(server) ? server.sandbox : undefined,
    })),
  ]
  return configured
    .filter(({ own }) => typeof own === 'object' && sandboxSettings(own, all).preset === 'none')
    .map(({ path }) => ({ path, message: 'needs "preset": "files" or "strict", because there is no sandbox otherwise.' }))
}

/** Valid settings that are probably a mistake. */
export function ruleWarnings(config: Config): readonly RuleViolation[] {
  const similar = confusableNames(Object.keys(config.mcpServers)).map(([first = '', ...others]) => ({
    path: ['mcpServers', others.at(-1) ?? first],
    message: `is easily confused with ${[first, ...others.slice(0, -1)].map((name) => unambiguous(name)).join(', ')}. Rename one of them.`,
  }))
  return [...similar, ...embedders(config).flatMap(embedderWarnings)]
}

interface Embedder {
  readonly path: readonly PropertyKey[]
  readonly embedder: NonNullable<SearchConfig['embedder']>
}

function embedders({ search, profiles }: Config): readonly Embedder[] {
  const all: readonly (readonly [readonly PropertyKey[], SearchConfig | undefined])[] = [
    [['search'], search],
    ...Object.entries(profiles).map(([name, profile]) => [['profiles', name, 'search'], profile.search] as const),
  ]
  return all.flatMap(([path, each]) =>
    each?.embedder === undefined ? [] : [{ path: [...path, 'embedder'], embedder: each.embedder }],
  )
}

function embedderRules({ path, embedder: { url, apiKey = '' } }: Embedder): readonly RuleViolation[] {
  const violations: RuleViolation[] = []
  if (!isHttpUrl(url) || hasCredentials(url))
    violations.push({
      path: [...path, 'url'],
      message: 'must be an http:// or https:// URL without credentials.',
    })
  if (!/^[\x21-\x7e]*$/u.test(apiKey))
    violations.push({
      path: [...path, 'apiKey'],
      message: 'contains characters that are not allowed in an HTTP header, such as a space or a line break.',
    })
  return violations
}

function embedderWarnings({ path, embedder: { url, apiKey = '' } }: Embedder): readonly RuleViolation[] {
  if (apiKey === '' || !isHttpUrl(url)) return []
  const { protocol, hostname } = new URL(url)
  if (protocol === 'https:' || isLoopback(hostname)) return []
  return [{ path: [...path, 'url'], message: 'sends the apiKey unencrypted. Use https.' }]
}

function hasCredentials(url: string): boolean {
  const { username, password } = new URL(url)
  return username !== '' || password !== ''
}

function serverRules({ mcpServers }: Config): readonly RuleViolation[] {
  const violations: RuleViolation[] = []
  const slugs = new Map<string, string>()
  const names = new Map<string, string>()
  for (const [server, definition] of Object.entries(mcpServers)) {
    const at = ['mcpServers', server]
    const slug = serverSlug(server).toLowerCase()
    const other = slugs.get(slug)
    if (other !== undefined)
      violations.push({ path: at, message: `has the same tool prefix as "${printable(other)}". Rename one of them.` })
    else slugs.set(slug, server)
    for (const [tool, { name }] of Object.entries(definition.tools)) {
      if (name === undefined || definition.disabled) continue
      const taken = names.get(name)
      if (taken === undefined) names.set(name, `${server}.tools.${tool}`)
      else
        violations.push({
          path: [...at, 'tools', tool, 'name'],
          message: `is already the name of ${printable(taken)}. Choose another name.`,
        })
    }
    if (isUrlServer(definition) && !definition.disabled && !isHttpUrl(definition.url))
      violations.push({ path: [...at, 'url'], message: 'must be an http:// or https:// URL.' })
  }
  return violations
}

function groupRules(config: Config): readonly RuleViolation[] {
  const { groups, mcpServers } = config
  const violations: RuleViolation[] = []
  const slugs = new Map(Object.keys(mcpServers).map((server) => [serverSlug(server).toLowerCase(), server]))
  const parents = new Map<string, string>()
  const assign = (member: string, group: string, path: readonly PropertyKey[]): void => {
    const before = parents.get(member)
    if (before === undefined) parents.set(member, group)
    else if (before !== group || path.at(-1) !== 'group')
      violations.push({ path, message: `is already in the group "${before}". Remove it from one of them.` })
  }
  for (const [name, group] of Object.entries(groups)) {
    const at = ['groups', name]
    const server = slugs.get(name.toLowerCase())
    if (server !== undefined)
      violations.push({
        path: at,
        message: `has the same name as the group of the server "${printable(server)}". Choose another name.`,
      })
    for (const [index, each] of group.servers.entries()) {
      const path = [...at, 'servers', index]
      if (!Object.hasOwn(mcpServers, each)) violations.push({ path, message: unknown('server', each, Object.keys(mcpServers)) })
      else assign(`server ${each}`, name, path)
    }
    for (const [index, each] of group.groups.entries()) {
      const path = [...at, 'groups', index]
      if (!Object.hasOwn(groups, each)) violations.push({ path, message: unknown('group', each, Object.keys(groups)) })
      else assign(`group ${each}`, name, path)
    }
  }
  for (const [name, { group }] of Object.entries(mcpServers)) {
    if (group === undefined) continue
    const path = ['mcpServers', name, 'group']
    if (!Object.hasOwn(groups, group)) violations.push({ path, message: unknown('group', group, Object.keys(groups)) })
    else assign(`server ${name}`, group, path)
  }
  return [...violations, ...groupCycles(config)]
}

function groupCycles({ groups }: Config): readonly RuleViolation[] {
  const parents = new Map(Object.entries(groups).flatMap(([name, group]) => group.groups.map((child) => [child, name] as const)))
  const reported = new Set<string>()
  return Object.keys(groups).flatMap((start) => {
    const ancestors = [start]
    for (let name = parents.get(start); name !== undefined; name = parents.get(name)) {
      if (name === start) {
        if (ancestors.some((each) => reported.has(each))) return []
        for (const each of ancestors) reported.add(each)
        const cycle = [...ancestors, start].reverse().join(' → ')
        return [{ path: ['groups', start, 'groups'], message: `contains itself: ${cycle}. Remove one of these.` }]
      }
      if (ancestors.includes(name)) return []
      ancestors.push(name)
    }
    return []
  })
}

function profileRules({ profiles, mcpServers, groups }: Config): readonly RuleViolation[] {
  return Object.entries(profiles).flatMap(([name, profile]) => [
    ...unknownNames(['profiles', name, 'servers'], 'server', profile.servers ?? [], Object.keys(mcpServers)),
    ...unknownNames(['profiles', name, 'groups'], 'group', profile.groups ?? [], Object.keys(groups)),
  ])
}

function unknownNames(
  path: readonly PropertyKey[],
  kind: string,
  names: readonly string[],
  known: readonly string[],
): readonly RuleViolation[] {
  return names.flatMap((name, index) =>
    known.includes(name) ? [] : [{ path: [...path, index], message: unknown(kind, name, known) }],
  )
}

function tokenRules({ tokens, profiles }: Config): readonly RuleViolation[] {
  const known = Object.keys(profiles)
  return tokens.flatMap(({ name, hash, profile, role }, index) => {
    const violations: RuleViolation[] = []
    const before = tokens.slice(0, index)
    if (before.some((other) => other.name === name))
      violations.push({ path: ['tokens', index, 'name'], message: 'is already the name of another token. Choose another name.' })
    if (before.some((other) => other.hash === hash))
      violations.push({ path: ['tokens', index, 'hash'], message: 'is already the hash of another token. Create a new token.' })
    if (profile !== undefined && !known.includes(profile))
      violations.push({ path: ['tokens', index, 'profile'], message: unknown('profile', profile, known) })
    if (profile !== undefined && role !== undefined)
      violations.push({
        path: ['tokens', index, 'role'],
        message: 'cannot be combined with a profile: a token with a role is not for MCP clients. Create two tokens.',
      })
    return violations
  })
}

function listenRules({ listen, tokens }: Config): readonly RuleViolation[] {
  if (hasClientTokens(tokens) || isLoopback(listen.host)) return []
  return [{ path: ['listen', 'host'], message: publicWithoutToken }]
}

export const publicWithoutToken =
  'is reachable from other machines, but no client token is configured. Add one (unfold token add <name>), or listen on 127.0.0.1.'

/** True if only programs on this machine can connect to this host. */
export function isLoopback(host: string): boolean {
  const plain = host.replace(/^\[(.*)\]$/u, '$1').toLowerCase()
  return plain === 'localhost' || plain === '::1' || /^127(?:\.\d{1,3}){3}$/u.test(plain)
}

function unknown(kind: string, name: string, known: readonly string[]): string {
  const [close] = nearest(name, known, 1)
  const hint =
    close === undefined
      ? known.length === 0
        ? ''
        : ` Known: ${quoted(known.slice(0, 20))}.`
      : ` Did you mean "${printable(close)}"?`
  return `refers to the ${kind} "${printable(name)}", which is not defined.${hint}`
}

const quoted = (names: readonly string[]): string => names.map((name) => `"${printable(name)}"`).join(', ')

const isHttpUrl = (text: string): boolean => URL.canParse(text) && /^https?:$/u.test(new URL(text).protocol)
