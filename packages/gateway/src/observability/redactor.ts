import { printable } from '@unfold-mcp/core'
import { type Config, isCommandServer, type SearchConfig, type ServerConfig } from '../config/schema.ts'
import type { Environment } from '../config/variables.ts'
import { Fingerprints, type Range, minSecretLength } from './fingerprints.ts'

const hidden = '[secret]'
const maxTextLength = 8_000
// Far more than is told, so that a secret is not cut in two before it is found.
const maxScannedLength = 65_536
const maxDepth = 8
const maxWidth = 200
const maxNames = 10_000
// Of one sign-in. A token that is renewed every hour for a year; each costs a few hundred bytes.
const maxRenewed = 10_000

const patterns = [
  /\bunf(?:old_admin)?_[A-Za-z0-9_-]{20,}/gu,
  /(?<=\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{6,}/giu,
  /(?<=:\/\/)[^\s/@]+@/gu,
]

// Most lines have none of it, and there are many lines.
const suspicious = /unf|bearer|basic|:\/\//iu

const secretKey = /^(?:authorization|proxy-authorization|cookie|set-cookie|password|passwd|secret|token|api[-_]?key|admin)$/iu

/** What must not be told, and the rest of what is told without it. What was secret once stays so while the process lives. */
export class Redactor {
  readonly #known = new Set<string>()
  readonly #renewed = new Map<string, Fingerprints>()
  readonly #names = new Map<string, string>()
  #pattern: RegExp | undefined

  /** From now on these are not told. */
  add(values: Iterable<string>): void {
    for (const form of longForms(values)) this.#known.add(form)
    const longestFirst = [...this.#known].toSorted((a, b) => b.length - a.length)
    const source = longestFirst.map((each) => each.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, '\\$&')).join('|')
    this.#pattern = source === '' ? undefined : new RegExp(source, 'gu')
    this.#names.clear()
  }

  /**
   * The same for what its owner renews again and again. A server may repeat what it was sent long ago, and what it said is kept for
   * as long: so all of them stay known, as fingerprints. Of more than 10,000 those are forgotten that turned up longest ago; one that
   * is in use, or was found in a text since, is not.
   */
  renewed(owner: string, values: readonly string[]): void {
    const known = this.#renewed.get(owner) ?? new Fingerprints(maxRenewed)
    this.#renewed.set(owner, known)
    if (known.add(longForms(values))) this.#names.clear()
  }

  /** The same for all values of a configuration that are for one server or embedder and nobody else. */
  keep({ mcpServers, search, profiles }: Config): void {
    const searches = [search, ...Object.values(profiles).map((profile) => profile.search)]
    this.add([...Object.values(mcpServers).flatMap(secretsOf), ...searches.flatMap(secretsOfSearch)])
  }

  /** The text without secrets, and not longer than anybody reads. */
  text(text: string): string {
    if (text.length < minSecretLength) return text
    const whole = text.length > maxScannedLength ? text.slice(0, maxScannedLength) : text
    const known = this.#renewed.size === 0 ? this.#withoutKnown(whole) : withoutRanges(whole, this.#rangesIn(whole))
    const clean = suspicious.test(known) ? patterns.reduce((rest, pattern) => rest.replaceAll(pattern, hidden), known) : known
    return clean.length > maxTextLength ? `${clean.slice(0, maxTextLength)}…` : clean
  }

  /** A name that comes again and again, without secrets and safe to show. */
  name(name: string): string {
    const known = this.#names.get(name)
    if (known !== undefined) return known
    const clean = printable(this.text(name))
    if (this.#names.size >= maxNames) this.#names.clear()
    this.#names.set(name, clean)
    return clean
  }

  /** The same value without secrets: a copy of plain data that JSON can hold. */
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
          secretKey.test(String(key)) && typeof each === 'string' ? hidden : this.data(each, depth + 1),
        ]),
    )
  }

  #withoutKnown(text: string): string {
    return this.#pattern === undefined ? text : text.replaceAll(this.#pattern, hidden)
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

/** The text with each range hidden; ranges that overlap are hidden as one. */
function withoutRanges(text: string, ranges: readonly Range[]): string {
  let clean = ''
  let at = 0
  for (const { start, end } of ranges.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    if (start >= at) clean += text.slice(at, start) + hidden
    at = Math.max(at, end)
  }
  return clean + text.slice(at)
}

const secretName = /token|secret|passw|credential|api_?key|(?:^|_)key(?:_|$)/iu

/** The values of variables that are secret by their names, wherever they are used. */
export function secretVariables(environment: Environment): readonly string[] {
  return Object.entries(environment).flatMap(([name, value]) => (value !== undefined && secretName.test(name) ? [value] : []))
}

// The path of a cache: whoever has to delete a part of it needs to know where it is.
const place = /^npm_config_cache$/iu

function secretsOf(server: ServerConfig): readonly string[] {
  if (isCommandServer(server)) return Object.entries(server.env).flatMap(([name, value]) => (place.test(name) ? [] : [value]))
  const headers = Object.values(server.headers).flatMap((value) => [value, ...value.split(/\s+/u).slice(1)])
  return [...headers, ...secretsInUrl(server.url)]
}

function secretsOfSearch(search: SearchConfig | undefined): readonly string[] {
  if (search?.embedder === undefined) return []
  const { url, apiKey = '' } = search.embedder
  return [apiKey, ...secretsInUrl(url)]
}

function secretsInUrl(url: string): readonly string[] {
  if (!URL.canParse(url)) return []
  const { username, password, searchParams } = new URL(url)
  const basic = Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64')
  const login = username === '' && password === '' ? [] : [username, decoded(username), password, decoded(password), basic]
  return [...login, ...searchParams.values()]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function encoded(text: string): string {
  try {
    return encodeURIComponent(text)
  } catch {
    return text
  }
}

/** The forms in which a value turns up: as it is, in JSON, in an address, and made safe to show. */
const formsOf = (value: string): readonly string[] => [
  value,
  value.trim(),
  JSON.stringify(value).slice(1, -1),
  encoded(value),
  printable(value, value.length),
]

// Shorter ones are switches and numbers; to hide them would make every line unreadable and nobody safer.
const longForms = (values: Iterable<string>): readonly string[] =>
  [...values].flatMap(formsOf).filter(({ length }) => length >= minSecretLength)
