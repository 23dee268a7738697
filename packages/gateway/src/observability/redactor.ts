import { decodeUri, printable } from '@unfold-mcp/core'
import { type Config, isCommandServer, type SearchConfig, type ServerConfig } from '../config/schema.ts'
import type { Environment } from '../config/variables.ts'
import { Fingerprints, minSecretLength, type Range } from './fingerprints.ts'
import { isOrdinaryValue } from './ordinary-value.ts'

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
  #pattern: RegExp | undefined

  add(values: Iterable<string>): void {
    for (const form of longForms(values)) this.#known.add(form)
    const longestFirst = [...this.#known].toSorted((a, b) => b.length - a.length)
    const source = longestFirst.map((each) => each.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, '\\$&')).join('|')
    this.#pattern = source === '' ? undefined : new RegExp(source, 'gu')
    this.#names.clear()
  }

  /** Adds secrets that are renewed regularly. A server may repeat an old one, so all stay known, as fingerprints. */
  addRenewed(owner: string, values: readonly string[]): void {
    const fingerprints = this.#renewed.get(owner) ?? new Fingerprints(maxRenewed)
    this.#renewed.set(owner, fingerprints)
    if (fingerprints.add(longForms(values))) this.#names.clear()
  }

  /** Adds the environment, headers and keys in a configuration. */
  addConfig({ mcpServers, search, profiles }: Config): void {
    const searches = [search, ...Object.values(profiles).map((profile) => profile.search)]
    this.add([...Object.values(mcpServers).flatMap(secretsOf), ...searches.flatMap(secretsOfSearch)])
  }

  /** Redacts and truncates a text. */
  text(text: string): string {
    if (text.length < minSecretLength) return text
    const scanned = text.slice(0, maxScannedLength)
    const known = this.#renewed.size === 0 ? this.#maskKnown(scanned) : maskRanges(scanned, this.#rangesIn(scanned))
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

  #rangesIn(text: string): readonly Range[] {
    const matches = this.#pattern === undefined ? [] : [...text.matchAll(this.#pattern)]
    const known = matches.map(({ index, 0: match }) => ({ start: index, end: index + match.length }))
    return [...known, ...[...this.#renewed.values()].flatMap((each) => each.find(text))]
  }

  #error({ name, message, stack }: Error): { readonly [key: string]: string } {
    return { name, message: this.text(message), ...(stack !== undefined && { stack: this.text(stack) }) }
  }
}

function maskRanges(text: string, ranges: readonly Range[]): string {
  let masked = ''
  let at = 0
  for (const { start, end } of ranges.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    if (start >= at) masked += text.slice(at, start) + mask
    at = Math.max(at, end)
  }
  return masked + text.slice(at)
}

const secretName = /token|secret|passw|credential|api_?key|(?:^|_)key(?:_|$)/iu

/** Values of environment variables whose names suggest a secret. */
export function secretVariables(environment: Environment): readonly string[] {
  return Object.entries(environment).flatMap(([name, value]) => (value !== undefined && secretName.test(name) ? [value] : []))
}

function secretsOf(server: ServerConfig): readonly string[] {
  if (isCommandServer(server)) return secretValues(Object.entries(server.env))
  const headers = secretValues(Object.entries(server.headers)).flatMap((value) => [value, ...value.split(/\s+/u).slice(1)])
  return [...headers, ...secretsInUrl(server.url)]
}

const secretValues = (entries: readonly (readonly [name: string, value: string])[]): readonly string[] =>
  entries.flatMap(([name, value]) => (isOrdinaryValue(name, value) ? [] : [value]))

function secretsOfSearch(search: SearchConfig | undefined): readonly string[] {
  if (search?.embedder === undefined) return []
  const { url, apiKey = '' } = search.embedder
  return [apiKey, ...secretsInUrl(url)]
}

function secretsInUrl(url: string): readonly string[] {
  if (!URL.canParse(url)) return []
  const { username, password, searchParams } = new URL(url)
  const basic = Buffer.from(`${decodeUri(username)}:${decodeUri(password)}`).toString('base64')
  const login = username === '' && password === '' ? [] : [username, decodeUri(username), password, decodeUri(password), basic]
  return [...login, ...secretValues([...searchParams])]
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
