import { decodeUri, printable } from '@unfold-mcp/core'
import { parseRedisUrl } from '../base/redis-url.ts'
import {
  type ClusterConfig,
  type Config,
  isCommandServer,
  isUrlServer,
  type SearchConfig,
  type ServerConfig,
} from '../config/schema.ts'
import type { Environment } from '../config/variables.ts'
import { Fingerprints, minSecretLength, type Range } from './fingerprints.ts'
import { isCertainSecret, isOrdinaryValue } from './ordinary-value.ts'

const mask = '[secret]'
const maxTextLength = 8_000
// Larger than the output, so that truncation does not split a secret before it is found.
const maxScannedLength = 65_536
const maxDepth = 8
const maxWidth = 200
const maxNames = 10_000
// Per sign-in: a token renewed every hour for a year, at a few hundred bytes each.
const maxRenewed = 10_000

const patterns = [
  /\bunf(?:old_admin)?_[A-Za-z0-9_-]{20,}/gu,
  /(?<=\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{6,}/giu,
  /(?<=:\/\/)[^\s/@]+@/gu,
]

// Fast path: most lines cannot match any pattern.
const mayMatch = /unf|bearer|basic|:\/\//iu

const secretKey = /^(?:authorization|proxy-authorization|cookie|set-cookie|password|passwd|secret|token|api[-_]?key|admin)$/iu

/** Removes secrets from text and data. A value stays secret as long as the process runs. */
export class Redactor {
  readonly #known = new Set<string>()
  readonly #renewed = new Map<string, Fingerprints>()
  readonly #names = new Map<string, string>()
  /** The ones that are masked in results too. */
  readonly #certain = new Set<string>()
  #pattern: RegExp | undefined
  #certainPattern: RegExp | undefined

  add(values: Iterable<string>): void {
    this.#add(Array.from(values, (value) => ['secret', value] as const))
  }

  /** Adds secrets that are renewed regularly. A server may repeat an old one, so all stay known, as fingerprints. */
  addRenewed(owner: string, values: readonly string[]): void {
    const fingerprints = this.#renewed.get(owner) ?? new Fingerprints(maxRenewed)
    this.#renewed.set(owner, fingerprints)
    if (fingerprints.add(longForms(values))) this.#names.clear()
  }

  /** Adds the environment, headers and keys in a configuration. */
  addConfig({ mcpServers, search, profiles, cluster }: Config): void {
    const searches = [search, ...Object.values(profiles).map((profile) => profile.search)]
    this.#add([
      ...Object.values(mcpServers).flatMap(secretsOf),
      ...searches.flatMap(secretsOfSearch),
      ...secretsOfCluster(cluster),
    ])
  }

  /** Finds secrets in a text of any length, without those that could be ordinary words. */
  secretsIn(text: string): readonly Range[] {
    return this.#rangesIn(text, this.#certainPattern)
  }

  /** Redacts and truncates a text. */
  text(text: string): string {
    if (text.length < minSecretLength) return text
    const scanned = text.slice(0, maxScannedLength)
    const known =
      this.#renewed.size === 0
        ? this.#maskKnown(scanned)
        : maskRanges(scanned, this.#rangesIn(scanned, this.#pattern), () => mask)
    const masked = mayMatch.test(known) ? patterns.reduce((rest, pattern) => rest.replaceAll(pattern, mask), known) : known
    return masked.length > maxTextLength ? `${masked.slice(0, maxTextLength)}…` : masked
  }

  /** Redacts and escapes a name, with a cache. */
  name(name: string): string {
    const cached = this.#names.get(name)
    if (cached !== undefined) return cached
    const clean = printable(this.text(name))
    if (this.#names.size >= maxNames) this.#names.clear()
    this.#names.set(name, clean)
    return clean
  }

  /** Returns a redacted copy as plain JSON data. */
  data(value: unknown, depth = 0): unknown {
    if (typeof value === 'string') return this.text(value)
    if (typeof value === 'bigint' || typeof value === 'symbol' || typeof value === 'function') return this.text(String(value))
    if (typeof value !== 'object' || value === null) return value
    if (depth >= maxDepth) return '…'
    if (value instanceof Error) return this.#error(value)
    if (Array.isArray(value)) return value.slice(0, maxWidth).map((each) => this.data(each, depth + 1))
    const entries = value instanceof Map ? [...value] : Object.entries(value)
    return Object.fromEntries(
      entries
        .slice(0, maxWidth)
        .map(([key, each]) => [
          this.text(String(key)),
          secretKey.test(String(key)) && typeof each === 'string' ? mask : this.data(each, depth + 1),
        ]),
    )
  }

  #maskKnown(text: string): string {
    return this.#pattern === undefined ? text : text.replaceAll(this.#pattern, mask)
  }

  #add(entries: readonly Entry[]): void {
    for (const form of longForms(entries.map(([, value]) => value))) this.#known.add(form)
    const certain = entries.filter(([name, value]) => isCertainSecret(name, value))
    for (const form of longForms(certain.map(([, value]) => value))) this.#certain.add(form)
    this.#pattern = patternOf(this.#known)
    this.#certainPattern = patternOf(this.#certain)
    this.#names.clear()
  }

  #rangesIn(text: string, pattern: RegExp | undefined): readonly Range[] {
    const matches = pattern === undefined ? [] : [...text.matchAll(pattern)]
    const known = matches.map(({ index, 0: match }) => ({ start: index, end: index + match.length }))
    return [...known, ...[...this.#renewed.values()].flatMap((each) => each.find(text))]
  }

  #error({ name, message, stack }: Error): { readonly [key: string]: string } {
    return { name, message: this.text(message), ...(stack !== undefined && { stack: this.text(stack) }) }
  }
}

function patternOf(values: ReadonlySet<string>): RegExp | undefined {
  const longestFirst = [...values].toSorted((a, b) => b.length - a.length)
  const source = longestFirst.map((each) => each.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, '\\$&')).join('|')
  return source === '' ? undefined : new RegExp(source, 'gu')
}

/** Replaces ranges of a text, which may overlap. */
export function maskRanges(text: string, ranges: readonly Range[], maskFor: (length: number) => string): string {
  let masked = ''
  let at = 0
  for (const { start, end } of ranges.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    if (start >= at) masked += text.slice(at, start) + maskFor(end - start)
    at = Math.max(at, end)
  }
  return masked + text.slice(at)
}

const secretName = /token|secret|passw|credential|api_?key|(?:^|_)key(?:_|$)/iu

/** Values of environment variables whose names suggest a secret. */
export function secretVariables(environment: Environment): readonly string[] {
  return Object.entries(environment).flatMap(([name, value]) => (value !== undefined && secretName.test(name) ? [value] : []))
}

type Entry = readonly [name: string, value: string]

function secretsOf(server: ServerConfig): readonly Entry[] {
  if (isCommandServer(server)) return secretValues(Object.entries(server.env))
  if (!isUrlServer(server)) return []
  const headers = secretValues(Object.entries(server.headers)).flatMap(([name, value]): readonly Entry[] => [
    [name, value],
    ...value
      .split(/\s+/u)
      .slice(1)
      .map((part): Entry => [name, part]),
  ])
  return [...headers, ...secretsInUrl(server.url)]
}

const secretValues = (entries: readonly Entry[]): readonly Entry[] =>
  entries.filter(([name, value]) => !isOrdinaryValue(name, value))

function secretsOfSearch(search: SearchConfig | undefined): readonly Entry[] {
  if (search?.embedder === undefined) return []
  const { url, apiKey = '' } = search.embedder
  return [['key', apiKey], ...secretsInUrl(url)]
}

function secretsOfCluster({ url = '', secret = '' }: Partial<ClusterConfig> = {}): readonly Entry[] {
  const { password = '' } = parseRedisUrl(url) ?? {}
  return [
    ['secret', secret],
    ['password', password],
  ]
}

function secretsInUrl(url: string): readonly Entry[] {
  if (!URL.canParse(url)) return []
  const { username, password, searchParams } = new URL(url)
  const basic = Buffer.from(`${decodeUri(username)}:${decodeUri(password)}`).toString('base64')
  const login = { user: [username, decodeUri(username)], password: [password, decodeUri(password), basic] }
  const entries = Object.entries(login).flatMap(([name, values]) => values.map((value): Entry => [name, value]))
  return [...(username === '' && password === '' ? [] : entries), ...secretValues([...searchParams])]
}

function encoded(text: string): string {
  try {
    return encodeURIComponent(text)
  } catch {
    return text
  }
}

/** Encodings in which a value may appear. */
const formsOf = (value: string): readonly string[] => [
  value,
  value.trim(),
  JSON.stringify(value).slice(1, -1),
  encoded(value),
  printable(value, value.length),
]

// Shorter values are flags and numbers; masking them would make logs unreadable.
const longForms = (values: Iterable<string>): readonly string[] =>
  [...values].flatMap(formsOf).filter(({ length }) => length >= minSecretLength)
