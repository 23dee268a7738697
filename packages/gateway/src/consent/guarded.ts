import { canonicalJson } from '@unfold-mcp/core'
import { type Config, isCommandServer, type SearchConfig, type ServerConfig } from '../config/schema.ts'
import { hasClientTokens } from '../config/tokens.ts'

// Everything else starts something, connects to something, or protects something. A new key needs consent unless it is added here.
const freeSettings = new Set<string>([
  ...['$schema', 'exposure', 'budgetTokens', 'remember', 'groups'],
  ...['callVariants', 'order', 'hostHints', 'host'],
])

const freeParts: { readonly [key: string]: readonly string[] | undefined } = {
  search: ['deadlineMs', 'learn', 'minConfidence'],
  results: ['maxCharacters'],
}

/** Settings of a server that apply without consent. */
export const freeServerSettings: readonly string[] = [
  ...['description', 'group', 'preferResources', 'start', 'idleStopMs', 'startTimeoutMs', 'installTimeoutMs'],
  ...['sweepMs', 'graceMs', 'pingMs', 'concurrency', 'queue', 'timeoutMs'],
]

/** Part of a configuration whose edits need consent: a server, a setting, or a profile. */
export interface GuardedPart {
  /** Such as `['mcpServers', 'git']` or `['trust']`. */
  readonly path: readonly string[]
  /** As approved; `undefined` for a server that is new. */
  readonly before: unknown
  /** As in the file. */
  readonly after: unknown
}

/** A configuration without what nobody has approved. */
export interface Permitted {
  /** Edits that wait are replaced by what was approved. New servers stay in it, because groups and profiles may refer to them. */
  readonly config: Config
  readonly waiting: readonly GuardedPart[]
}

/** Compares a configuration with the approved one, both as written. Stricter settings, removals and harmless settings need no consent. */
export function permitted(approved: Config, written: Config): Permitted {
  if (approved.reload === 'always') return { config: written, waiting: [] }
  const waiting: GuardedPart[] = []
  const wait = (path: readonly string[], before: unknown, after: unknown): void => void waiting.push({ path, before, after })
  const settings = Object.fromEntries(
    [...new Set([...Object.keys(approved), ...Object.keys(written)] as (keyof Config)[])].map((key) => {
      const [before, after] = [approved[key], written[key]]
      if (separate.has(key) || isFree(key, approved) || isStricterSetting(key, approved, written)) return [key, after]
      if (isEqual(guardedIn(key, before), guardedIn(key, after))) return [key, after]
      wait([key], before, after)
      return [key, withFreeParts(key, before, after)]
    }),
  ) as Config
  const mcpServers = Object.fromEntries(
    Object.entries(written.mcpServers).map(([name, server]) => [name, permittedServer(name, server, approved, wait)]),
  )
  const profiles = permittedProfiles(approved, { ...written, tokens: settings.tokens }, wait)
  return { config: withoutUndefined({ ...settings, mcpServers, profiles }), waiting }
}

/** The configuration to compare later edits with, after `permitted` was applied. A removed server may return as it was. */
export function approvedAfter(approved: Config, { config, waiting }: Permitted): Config {
  const held = new Set(
    waiting.flatMap(({ path: [key, name], before }) => (key === 'mcpServers' && before === undefined ? [name] : [])),
  )
  const started = Object.entries(config.mcpServers).filter(([name, { disabled }]) => !disabled && !held.has(name))
  return { ...config, mcpServers: { ...approved.mcpServers, ...Object.fromEntries(started) } }
}

/** The approved configuration with one more part approved. */
export function withApproved(approved: Config, { path: [key = '', name], after }: Pick<GuardedPart, 'path' | 'after'>): Config {
  if (name === undefined) return withoutUndefined({ ...approved, [key]: after })
  const others = without(approved[key as keyof Config] as object, [name])
  return { ...approved, [key]: after === undefined ? others : { ...others, [name]: after } }
}

/** Whether two values of a part are the same apart from harmless settings, and from whether a server is disabled. */
export function isSamePart([section = '', name]: readonly string[], one: unknown, other: unknown): boolean {
  if (one === undefined || other === undefined) return one === other
  if (section === 'mcpServers') {
    const ignored = ['disabled', ...freeServerSettings]
    return isEqual(without(one as object, ignored), without(other as object, ignored))
  }
  return isEqual(name === undefined ? guardedIn(section, one) : one, name === undefined ? guardedIn(section, other) : other)
}

/** All parts that differ between two configurations. */
export function changedParts(before: Config, after: Config): readonly GuardedPart[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])] as (keyof Config)[]
  return keys.flatMap((key) => {
    const [one, other] = [before, after].map((config) => config[key] as Values | undefined)
    if (!separate.has(key)) return isEqual(one, other) ? [] : [{ path: [key], before: one, after: other }]
    const names = [...new Set([...Object.keys(one ?? {}), ...Object.keys(other ?? {})])]
    return names
      .map((name) => ({ path: [key, name], before: entryOf(one, name), after: entryOf(other, name) }))
      .filter((part) => !isEqual(part.before, part.after))
  })
}

/** Value of a part. */
export const partAt = (config: Config, [key = '', name]: readonly string[]): unknown => {
  const value = config[key as keyof Config]
  return name === undefined ? value : entryOf(value as Values | undefined, name)
}

const entryOf = (values: Values | undefined, name: string): unknown =>
  values !== undefined && Object.hasOwn(values, name) ? values[name] : undefined

const guardedIn = (key: string, value: unknown): unknown => {
  const free = freeParts[key]
  return free === undefined ? value : without(value as object, free)
}

const withFreeParts = (key: string, before: unknown, after: unknown): unknown => {
  const free = freeParts[key]
  return free === undefined ? before : { ...without(before as object, free), ...only(after as object, free) }
}

// Compared entry by entry.
const separate = new Set<string>(['mcpServers', 'profiles'])

const isFree = (key: string, approved: Config): boolean => freeSettings.has(key) && !(key === 'groups' && hasLimits(approved))

/** Whether profiles, and the groups in them, decide what a token may use. */
const hasLimits = ({ tokens }: Config): boolean => tokens.some(({ profile }) => profile !== undefined)

function permittedServer(
  name: string,
  server: ServerConfig,
  approved: Config,
  wait: (path: readonly string[], before: unknown, after: unknown) => void,
): ServerConfig {
  const before = Object.hasOwn(approved.mcpServers, name) ? approved.mcpServers[name] : undefined
  // Starts nothing; enabling it is another edit.
  if (server.disabled) return server
  const path = ['mcpServers', name]
  if (before === undefined || before.disabled) {
    wait(path, undefined, server)
    return server
  }
  const free = freeServerSettings.filter((key) => key !== 'group' || !hasLimits(approved))
  const kept = { ...without(before, free), ...stricterServer(before, server, approved.trust) }
  if (isEqual(kept, without(server, free))) return server
  wait(path, before, server)
  const settings = only(server, free)
  return { ...kept, ...(isCommandServer(before) ? settings : without(settings, ['installTimeoutMs'])) } as ServerConfig
}

const trustRank = ['off', 'watch', 'pin', 'review'] as const

/** Settings of the edited server that only restrict it further. */
function stricterServer(before: ServerConfig, after: ServerConfig, trust: Config['trust']): Partial<ServerConfig> {
  const isSubset = (some: readonly string[], all: readonly string[]): boolean => some.every((each) => all.includes(each))
  const isStricterTrust = after.trust !== undefined && trustRank.indexOf(after.trust) >= trustRank.indexOf(before.trust ?? trust)
  const isStricterAllow = after.allow !== undefined && (before.allow === undefined || isSubset(after.allow, before.allow))
  return {
    ...(isStricterTrust && { trust: after.trust }),
    ...(isStricterAllow && { allow: after.allow }),
    ...(isSubset(before.deny, after.deny) && { deny: after.deny }),
  }
}

function isStricterSetting(key: keyof Config, approved: Config, written: Config): boolean {
  if (key === 'trust') return trustRank.indexOf(written.trust) >= trustRank.indexOf(approved.trust)
  if (key !== 'tokens') return false
  const known = new Set(approved.tokens.map(canonicalJson))
  // Without any client token, none is required.
  const isOpened = hasClientTokens(approved.tokens) && !hasClientTokens(written.tokens)
  return !isOpened && written.tokens.every((token) => known.has(canonicalJson(token)))
}

/** Profiles limit what tokens may use, and an embedder receives the texts of searches. */
function permittedProfiles(
  approved: Config,
  { profiles, tokens }: Config,
  wait: (path: readonly string[], before: unknown, after: unknown) => void,
): Config['profiles'] {
  const limiting = new Set(approved.tokens.flatMap(({ profile }) => (profile === undefined ? [] : [profile])))
  const kept = tokens.flatMap(({ profile: name = '' }) =>
    Object.hasOwn(profiles, name) || !Object.hasOwn(approved.profiles, name) ? [] : [[name, approved.profiles[name]]],
  )
  const entries = Object.entries(profiles).map(([name, profile]) => {
    const before = Object.hasOwn(approved.profiles, name) ? approved.profiles[name] : undefined
    const isLimit = limiting.has(name) && !isEqual(before, profile)
    const embedder = profile.search?.embedder
    const isEmbedder = embedder !== undefined && !isEqual(before?.search?.embedder, embedder)
    if (!isLimit && !isEmbedder) return [name, profile]
    wait(['profiles', name], before, profile)
    return [name, isLimit ? before : { ...profile, search: withEmbedder(profile.search, before?.search?.embedder) }]
  })
  return Object.fromEntries([...entries, ...kept])
}

const withEmbedder = (search: SearchConfig | undefined, embedder: SearchConfig['embedder']): object => ({
  ...without(search ?? {}, ['embedder']),
  ...(embedder !== undefined && { embedder }),
})

const isEqual = (one: unknown, other: unknown): boolean => canonicalJson(one ?? null) === canonicalJson(other ?? null)

type Values = { readonly [key: string]: unknown }

const only = (value: object, keys: readonly string[]): Values =>
  Object.fromEntries(Object.entries(value).filter(([key]) => keys.includes(key)))

const without = (value: object, keys: readonly string[]): Values =>
  Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)))

const withoutUndefined = (config: Config): Config =>
  Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined)) as Config
