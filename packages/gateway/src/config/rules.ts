import { nearest, printable } from '@unfold-mcp/core'
import { lookAlikes, serverSlug } from '../names/naming.ts'
import { type Config, isCommandServer, type SearchConfig } from './schema.ts'

/** Something that the parts of a configuration say against each other. */
export interface RuleViolation {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/** Everything that is wrong between the parts of a configuration, each of which is right by itself. */
export function ruleViolations(config: Config): readonly RuleViolation[] {
  return [
    ...serverRules(config),
    ...groupRules(config),
    ...profileRules(config),
    ...tokenRules(config),
    ...listenRules(config),
    ...embedders(config).flatMap(embedderRules),
  ]
}

/** What is allowed and may still not be meant. */
export function ruleWarnings(config: Config): readonly RuleViolation[] {
  const alike = lookAlikes(Object.keys(config.mcpServers)).map(([first = '', ...others]) => ({
    path: ['mcpServers', others.at(-1) ?? first],
    message: `looks like ${quoted([first, ...others.slice(0, -1)])}. A person or a model may take one for the other.`,
  }))
  return [...alike, ...embedders(config).flatMap(embedderDoubts)]
}

interface Embedder {
  readonly path: readonly PropertyKey[]
  readonly embedder: NonNullable<SearchConfig['embedder']>
}

/** Every embedder of a configuration, with where it stands. */
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
  const found: RuleViolation[] = []
  if (!isAddress(url) || hasLogin(url))
    found.push({
      path: [...path, 'url'],
      message: 'must be an address that begins with http:// or https://, without a name or password.',
    })
  if (!/^[\x21-\x7e]*$/u.test(apiKey))
    found.push({
      path: [...path, 'apiKey'],
      message: 'has characters that a header cannot hold, such as a space or a line break.',
    })
  return found
}

function embedderDoubts({ path, embedder: { url, apiKey = '' } }: Embedder): readonly RuleViolation[] {
  if (apiKey === '' || !isAddress(url)) return []
  const { protocol, hostname } = new URL(url)
  if (protocol === 'https:' || isLoopback(hostname)) return []
  return [{ path: [...path, 'url'], message: 'sends the apiKey unencrypted, so others on the network can read it. Use https.' }]
}

function hasLogin(url: string): boolean {
  const { username, password } = new URL(url)
  return username !== '' || password !== ''
}

function serverRules({ mcpServers }: Config): readonly RuleViolation[] {
  const found: RuleViolation[] = []
  const slugs = new Map<string, string>()
  const names = new Map<string, string>()
  for (const [server, definition] of Object.entries(mcpServers)) {
    const at = ['mcpServers', server]
    const slug = serverSlug(server).toLowerCase()
    const other = slugs.get(slug)
    if (other !== undefined)
      found.push({ path: at, message: `cannot be told from "${printable(other)}" in the names of tools. Rename one.` })
    else slugs.set(slug, server)
    for (const [tool, { name }] of Object.entries(definition.tools)) {
      if (name === undefined || definition.disabled) continue
      const taken = names.get(name)
      if (taken === undefined) names.set(name, `${server}.tools.${tool}`)
      else
        found.push({
          path: [...at, 'tools', tool, 'name'],
          message: `is the name of ${printable(taken)} already. Choose another.`,
        })
    }
    if (!isCommandServer(definition) && !definition.disabled && !isAddress(definition.url))
      found.push({ path: [...at, 'url'], message: 'must be an address that begins with http:// or https://.' })
  }
  return found
}

function groupRules(config: Config): readonly RuleViolation[] {
  const { groups, mcpServers } = config
  const found: RuleViolation[] = []
  const slugs = new Map(Object.keys(mcpServers).map((server) => [serverSlug(server).toLowerCase(), server]))
  const places = new Map<string, string>()
  const place = (what: string, group: string, path: readonly PropertyKey[]): void => {
    const before = places.get(what)
    if (before === undefined) places.set(what, group)
    else if (before !== group || path.at(-1) !== 'group')
      found.push({ path, message: `lies in the group "${before}" already, and nothing lies in two. Remove one.` })
  }
  for (const [name, group] of Object.entries(groups)) {
    const at = ['groups', name]
    const server = slugs.get(name.toLowerCase())
    if (server !== undefined)
      found.push({
        path: at,
        message: `is the name of the group that the server "${printable(server)}" is by itself. Choose another.`,
      })
    for (const [index, each] of group.servers.entries()) {
      const path = [...at, 'servers', index]
      if (!Object.hasOwn(mcpServers, each)) found.push({ path, message: unknown('server', each, Object.keys(mcpServers)) })
      else place(`server ${each}`, name, path)
    }
    for (const [index, each] of group.groups.entries()) {
      const path = [...at, 'groups', index]
      if (!Object.hasOwn(groups, each)) found.push({ path, message: unknown('group', each, Object.keys(groups)) })
      else place(`group ${each}`, name, path)
    }
  }
  for (const [name, { group }] of Object.entries(mcpServers)) {
    if (group === undefined) continue
    const path = ['mcpServers', name, 'group']
    if (!Object.hasOwn(groups, group)) found.push({ path, message: unknown('group', group, Object.keys(groups)) })
    else place(`server ${name}`, group, path)
  }
  return [...found, ...circles(config)]
}

/** Groups that lie in themselves. */
function circles({ groups }: Config): readonly RuleViolation[] {
  const parents = new Map(Object.entries(groups).flatMap(([name, group]) => group.groups.map((child) => [child, name] as const)))
  const told = new Set<string>()
  return Object.keys(groups).flatMap((start) => {
    const way = [start]
    for (let at = parents.get(start); at !== undefined; at = parents.get(at)) {
      if (at === start) {
        const isTold = way.some((name) => told.has(name))
        for (const name of way) told.add(name)
        const circle = [...way, start].reverse().join(' → ')
        return isTold
          ? []
          : [{ path: ['groups', start, 'groups'], message: `leads back to itself: ${circle}. Remove one of these.` }]
      }
      if (way.includes(at)) return []
      way.push(at)
    }
    return []
  })
}

function profileRules({ profiles, mcpServers, groups }: Config): readonly RuleViolation[] {
  return Object.entries(profiles).flatMap(([name, profile]) => [
    ...strangers(['profiles', name, 'servers'], 'server', profile.servers ?? [], Object.keys(mcpServers)),
    ...strangers(['profiles', name, 'groups'], 'group', profile.groups ?? [], Object.keys(groups)),
  ])
}

function strangers(
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
  return tokens.flatMap(({ name, hash, profile }, index) => {
    const found: RuleViolation[] = []
    const before = tokens.slice(0, index)
    if (before.some((other) => other.name === name))
      found.push({ path: ['tokens', index, 'name'], message: 'is the name of another token. Choose another.' })
    if (before.some((other) => other.hash === hash))
      found.push({ path: ['tokens', index, 'hash'], message: 'is that of another token. Make a new one.' })
    if (profile !== undefined && !known.includes(profile))
      found.push({ path: ['tokens', index, 'profile'], message: unknown('profile', profile, known) })
    return found
  })
}

function listenRules({ listen, tokens }: Config): readonly RuleViolation[] {
  if (tokens.length > 0 || isLoopback(listen.host)) return []
  return [{ path: ['listen', 'host'], message: publicWithoutToken }]
}

/** What is wrong with listening where others are when nobody is kept out. */
export const publicWithoutToken =
  'can be reached by others, and there is no token to keep them out. Make one (unfold token add <name>), or listen on 127.0.0.1.'

/** Whether only programs on this machine can reach an address of this host. */
export function isLoopback(host: string): boolean {
  const plain = host.replace(/^\[(.*)\]$/u, '$1').toLowerCase()
  return plain === 'localhost' || plain === '::1' || /^127(?:\.\d{1,3}){3}$/u.test(plain)
}

function unknown(kind: string, name: string, known: readonly string[]): string {
  const [close] = nearest(name, known, 1)
  const hint =
    close === undefined
      ? known.length === 0
        ? ` There is no ${kind}.`
        : ` There are ${quoted(known.slice(0, 20))}.`
      : ` Did you mean "${printable(close)}"?`
  return `names the ${kind} "${printable(name)}", which is not in this file.${hint}`
}

const quoted = (names: readonly string[]): string => names.map((name) => `"${printable(name)}"`).join(', ')

const isAddress = (text: string): boolean => URL.canParse(text) && /^https?:$/u.test(new URL(text).protocol)
