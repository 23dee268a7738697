import { ToolError } from '@unfold-mcp/server'
import type {
  Body,
  Header,
  Kind,
  NewRecord,
  PendingRequest,
  Recorded,
  Records,
  SocketEvent,
  SocketStatus,
  UserAction,
} from '../records/records.ts'
import { quoted } from '../reply/reply.ts'
import { redactCards } from './cards.ts'
import { redactFields } from './fields.ts'
import { redactHeader } from './headers.ts'
import { isJson, redactInJson } from './json.ts'
import { marker, type OnRedacted } from './marker.ts'
import { redactInMarkup } from './markup.ts'
import { redactInMultipart } from './multipart.ts'
import { secrecyOf } from './names.ts'
import { compilePattern, type Pattern } from './pattern.ts'
import { InvalidPattern } from './pattern-syntax.ts'
import { redactPrivateKeys, redactTokens } from './tokens.ts'
import { redactInAddress, redactInParameters, redactUsers } from './url.ts'

/** Additional pattern to redact, with a name. */
export interface RedactionPattern {
  readonly name: string
  readonly pattern: string
}

export interface RedactorOptions {
  readonly patterns?: readonly RedactionPattern[]
}

const maxPatterns = 50
const maxRemembered = 500
const maxRememberedLength = 1_000
const patternName = /^[a-z0-9][a-z0-9_-]{0,39}$/
// Nested strings; deeper ones are treated as plain text.
const maxDepth = 4

// Fields written by this server or defined by a protocol: they contain no secrets of a page.
const ours = new Set(
  'tab level from event socket id state encoding action cause method type protocol mimeType impact rule engine'.split(' '),
)

interface Reading {
  readonly depth: number
  /** Only the beginning of the text is available: its end may be a partial token. */
  readonly isCut: boolean
}

/** Redacts records before they are stored. Idempotent. */
export class Redactor {
  readonly #patterns = new Map<string, { readonly source: string; readonly pattern: Pattern }>()
  readonly #counts = new Map<string, number>()
  /** URLs known to contain no secrets: a page repeats its URL in every record. */
  readonly #plainAddresses = new Set<string>()
  readonly #found: OnRedacted = (rule) => this.#count(rule, 1)

  constructor({ patterns = [] }: RedactorOptions = {}) {
    for (const each of patterns) this.add(each)
  }

  /** Adds or replaces a pattern; throws if it is invalid. */
  add({ name, pattern }: RedactionPattern): void {
    if (!patternName.test(name)) {
      throw new ToolError(
        `${quoted(name, 60)} cannot be a pattern's name. Use 1 to 40 small letters, digits, underscores and hyphens.`,
      )
    }
    if (!this.#patterns.has(name) && this.#patterns.size >= maxPatterns) {
      throw new ToolError(`There are ${maxPatterns} patterns, the maximum. Remove one first.`)
    }
    try {
      this.#patterns.set(name, { source: pattern, pattern: compilePattern(pattern) })
      this.#plainAddresses.clear()
    } catch (error) {
      if (error instanceof InvalidPattern) throw new ToolError(error.message, { cause: error })
      throw error
    }
  }

  /** Lists the added patterns. */
  list(): readonly RedactionPattern[] {
    return [...this.#patterns].map(([name, { source }]) => ({ name, pattern: source }))
  }

  /** Removes a pattern; returns whether it existed. */
  remove(name: string): boolean {
    return this.#patterns.delete(name)
  }

  /** Number of redactions by rule. */
  counts(): { readonly [rule: string]: number } {
    return Object.fromEntries([...this.#counts].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  }

  /** Redacts a text. JSON stays valid. */
  text(text: string): string {
    return this.#anyText(text, false)
  }

  /** Redacts a URL, which stays valid. */
  url(url: string): string {
    if (this.#plainAddresses.has(url)) return url
    const inside = (text: string): string => this.#text(text, { depth: 1, isCut: false })
    const clean = settled(url, (each) => redactInAddress(each, this.#found, inside))
    if (clean === url) this.#rememberPlain(url)
    return clean
  }

  /** Redacts HTML or XML. */
  markup(markup: string): string {
    return this.#markup(markup, false)
  }

  /** Redacts all texts of a record. */
  record<K extends Kind>(kind: K, record: NewRecord<Records[K]>): NewRecord<Records[K]> {
    const given: NewRecord<Recorded> = record
    if (kind === 'sockets') return this.#frame(given as NewRecord<SocketEvent>) as unknown as NewRecord<Records[K]>
    if (kind !== 'actions') return this.#object(record)
    return this.#object(withoutSecretValue(given as NewRecord<UserAction>, this.#found)) as unknown as NewRecord<Records[K]>
  }

  /** Redacts any JSON value, including values under secret names. */
  value<T>(value: T): T {
    const json = settled(JSON.stringify(value) ?? 'null', (each) => this.#json(each, { depth: 0, isCut: false }))
    return JSON.parse(json) as T
  }

  /** Redacts the state of a WebSocket. */
  connection(status: SocketStatus): SocketStatus {
    return this.#object(status)
  }

  /** Redacts a pending request. */
  pending(request: PendingRequest): PendingRequest {
    return this.#object(request)
  }

  /** Redacts every text of an object by its field name, so that new fields are covered too. */
  #object<T extends object>(given: T): T {
    const clean = Object.entries(given).map(([name, value]: [string, unknown]) => [name, this.#value(name, value)])
    return Object.fromEntries(clean) as T
  }

  #value(name: string, value: unknown): unknown {
    if (typeof value === 'string') return this.#named(name, value)
    if (Array.isArray(value)) {
      return value.map((each: unknown) => (isHeader(each) ? this.#header(each) : this.#value(name, each)))
    }
    if (typeof value !== 'object' || value === null) return value
    return isBody(value) ? this.#body(value) : this.#object(value)
  }

  #named(name: string, value: string): string {
    if (ours.has(name)) return value
    if (/url$|^redirectedTo$/i.test(name)) return this.url(value)
    return name === 'html' ? this.markup(value) : this.text(value)
  }

  #header(header: Header): Header {
    return redactHeader(header, this.#found, { text: (text) => this.text(text), url: (url) => this.url(url) })
  }

  #body(body: Body): Body {
    const { text, mimeType, encoding, cut } = body
    if (text === undefined) return body
    const isCut = cut === true
    const clean = encoding === 'base64' ? this.#bytes(text, isCut) : this.#content(text, mimeType.toLowerCase(), isCut)
    return { ...body, text: clean }
  }

  #content(text: string, type: string, isCut: boolean): string {
    if (type.includes('x-www-form-urlencoded')) {
      const inside = (each: string): string => this.#text(each, { depth: 1, isCut })
      return settled(text, (each) => redactInParameters(each, this.#found, inside))
    }
    if (type.includes('multipart')) return this.#anyText(redactInMultipart(text, this.#found), isCut)
    if (type.includes('json')) return this.#anyText(text, isCut)
    if (/html|xml|svg/.test(type)) return this.#markup(text, isCut)
    return /script|css/.test(type) ? settled(text, (each) => this.#plain(each, isCut, 'code')) : this.#anyText(text, isCut)
  }

  #markup(text: string, isCut: boolean): string {
    return settled(text, (each) => this.#plain(redactInMarkup(each, this.#found), isCut, 'code'))
  }

  #anyText(text: string, isCut: boolean): string {
    return settled(text, (each) => this.#text(each, { depth: 0, isCut }))
  }

  #frame({ text, ...rest }: NewRecord<SocketEvent>): NewRecord<SocketEvent> {
    const clean = this.#object(rest)
    if (text === undefined) return clean
    const isCut = rest.cut === true
    return { ...clean, text: rest.encoding === 'base64' ? this.#bytes(text, isCut) : this.#anyText(text, isCut) }
  }

  /** Redacts text inside binary data, and re-encodes only if something was redacted. */
  #bytes(base64: string, isCut: boolean): string {
    const bytes = Buffer.from(base64, 'base64').toString('latin1')
    const clean = this.#anyText(bytes, isCut)
    return clean === bytes ? base64 : Buffer.from(clean, 'latin1').toString('base64')
  }

  #text(text: string, reading: Reading): string {
    // Too short for any rule.
    if (text.length < 6 && !/[:=]/.test(text) && this.#patterns.size === 0) return text
    const { depth, isCut } = reading
    if (depth >= maxDepth || !isJson(text)) return this.#plain(text, isCut)
    // A pattern with quotes applies to the raw JSON and may break it.
    return this.#matched(this.#json(text, reading), ({ source }) => source.includes('"'))
  }

  #json(text: string, { depth, isCut }: Reading): string {
    return redactInJson(text, this.#found, (each, isLast) => this.#text(each, { depth: depth + 1, isCut: isCut && isLast }))
  }

  #plain(text: string, isCut: boolean, reading: 'data' | 'code' = 'data'): string {
    const withoutKeys = redactPrivateKeys(text, this.#found)
    const withoutFields = redactFields(redactUsers(withoutKeys, this.#found, marker), this.#found, reading)
    return this.#matched(redactCards(redactTokens(withoutFields, this.#found, isCut), this.#found))
  }

  #matched(text: string, matchesFilters: (pattern: { readonly source: string }) => boolean = () => true): string {
    let clean = text
    for (const [name, each] of this.#patterns) {
      if (!matchesFilters(each)) continue
      const { text: next, hidden } = each.pattern.hide(clean)
      if (hidden > 0) this.#count(`pattern:${name}`, hidden)
      clean = next
    }
    return clean
  }

  #rememberPlain(url: string): void {
    if (url.length > maxRememberedLength) return
    if (this.#plainAddresses.size >= maxRemembered) this.#plainAddresses.clear()
    this.#plainAddresses.add(url)
  }

  #count(rule: string, times: number): void {
    this.#counts.set(rule, (this.#counts.get(rule) ?? 0) + times)
  }
}

const maxRounds = 6

/** Repeats until nothing changes: text around a redacted token can form another match. */
function settled(text: string, hide: (text: string) => string): string {
  let now = text
  for (let round = 0; round < maxRounds; round++) {
    const next = hide(now)
    if (next === now) return now
    now = next
  }
  return now
}

function isHeader(value: unknown): value is Header {
  return typeof value === 'object' && value !== null && 'name' in value && 'value' in value && Object.keys(value).length === 2
}

function isBody(value: object): value is Body {
  return 'mimeType' in value && 'bytes' in value
}

/** Drops values typed into secret fields, also if the page did not mark them. */
function withoutSecretValue(action: NewRecord<UserAction>, onRedacted: OnRedacted): NewRecord<UserAction> {
  const { value, selectors, ...rest } = action
  if (value === undefined) return action
  const { testId, role, label, placeholder, css = '' } = selectors ?? {}
  const names = [testId, role?.name, label, placeholder, css.split(/[\s>+~]/).at(-1)]
  const isSecret = action.secret === true || names.some((name) => name !== undefined && secrecyOf(name) === 'always')
  if (!isSecret) return action
  onRedacted('typed')
  return { ...rest, ...(selectors === undefined ? {} : { selectors }), secret: true }
}
