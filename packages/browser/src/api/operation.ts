import type { Body, Header, NetworkRequest } from '../records/records.ts'
import { Latency } from './latency.ts'
import { countNodes, emptyShape, join, limitNodes, objectShape, plainTextShape, type Shape, shapeOf } from './shape.ts'

/** Observed responses of one status. */
export interface Answer {
  readonly status: number
  readonly calls: number
  readonly contentTypes: readonly string[]
  /** `emptyShape` until a body with this status could be read. */
  readonly body: Shape
}

const maxStatuses = 12
const maxContentTypes = 5
const maxAuthKinds = 8
const maxQueryNames = 100
const maxReadBytes = 1024 * 1024

/** One method of an endpoint, inferred from traffic. Stores shapes and names, no values. */
export class Operation {
  readonly method: string
  /** Sequence number of the first request. */
  firstSeq: number
  calls = 0
  /** Calls without a response. */
  failed = 0
  /** Truncated bodies, which have no shape. */
  cutBodies = 0
  query: Shape = emptyShape
  request: Shape = emptyShape
  readonly requestTypes = new Set<string>()
  readonly auth = new Set<string>()
  readonly latency = new Latency()
  readonly #answers = new Map<number, Answer>()
  #places = 1
  #version = 0
  #weighedAt = -1

  constructor(method: string, firstSeq: number) {
    this.method = method
    this.firstSeq = firstSeq
  }

  /** By status. */
  get answers(): readonly Answer[] {
    return [...this.#answers.values()].sort((a, b) => a.status - b.status)
  }

  /** Increases when a shape changes. */
  get version(): number {
    return this.#version
  }

  /** Approximate size, in shape nodes. */
  get places(): number {
    if (this.#weighedAt === this.#version) return this.#places
    this.#places = [this.query, this.request, ...this.answers.map(({ body }) => body)].reduce(
      (sum, each) => sum + countNodes(each),
      1,
    )
    this.#weighedAt = this.#version
    return this.#places
  }

  observe(request: NetworkRequest, url: URL): void {
    this.calls += 1
    this.query = this.#joined(this.query, queryShape(url.searchParams))
    this.#learnRequest(request.requestBody)
    addTo(this.auth, authOf(request.requestHeaders), maxAuthKinds)
    if (request.status === 0) this.failed += 1
    else this.#learnAnswer(request)
    if (!request.fromCache && request.status !== 0) this.latency.add(request.at - request.startedAt)
  }

  /** Merges another operation into this one. */
  absorb(other: Operation): void {
    this.firstSeq = Math.min(this.firstSeq, other.firstSeq)
    this.calls += other.calls
    this.failed += other.failed
    this.cutBodies += other.cutBodies
    this.query = this.#joined(this.query, other.query)
    this.request = this.#joined(this.request, other.request)
    for (const type of other.requestTypes) addTo(this.requestTypes, type, maxContentTypes)
    for (const kind of other.auth) addTo(this.auth, kind, maxAuthKinds)
    for (const answer of other.answers) this.#addAnswer(answer)
    this.latency.absorb(other.latency)
  }

  #joined(known: Shape, seen: Shape): Shape {
    const joined = join(known, seen)
    if (joined === known) return known
    this.#version += 1
    return limitNodes(joined)
  }

  #learnRequest(body: Body | undefined): void {
    if (body === undefined) return
    addTo(this.requestTypes, contentType(body.mimeType), maxContentTypes)
    this.request = this.#joined(this.request, this.#shapeOf(body))
  }

  #learnAnswer({ status, responseBody }: NetworkRequest): void {
    const body = responseBody === undefined ? emptyShape : this.#shapeOf(responseBody)
    const contentTypes = responseBody === undefined ? [] : [contentType(responseBody.mimeType)].filter((type) => type !== '')
    this.#addAnswer({ status, calls: 1, contentTypes, body })
  }

  #addAnswer(answer: Answer): void {
    const known = this.#answers.get(answer.status) ?? { status: answer.status, calls: 0, contentTypes: [], body: emptyShape }
    if (known.calls === 0 && this.#answers.size >= maxStatuses) return
    this.#answers.set(answer.status, {
      status: answer.status,
      calls: known.calls + answer.calls,
      contentTypes: [...new Set([...known.contentTypes, ...answer.contentTypes])].slice(0, maxContentTypes),
      body: this.#joined(known.body, answer.body),
    })
  }

  #shapeOf(body: Body): Shape {
    if (body.cut === true || body.omitted !== undefined) {
      this.cutBodies += 1
      return emptyShape
    }
    return bodyShape(body)
  }
}

export function isJsonType(mimeType: string): boolean {
  return /^(?:application|text)\/(?:[\w.+-]{1,80}\+)?json$/.test(contentType(mimeType))
}

function bodyShape({ text, encoding, mimeType }: Body): Shape {
  if (text === undefined || encoding !== undefined || text === '' || text.length > maxReadBytes) return emptyShape
  if (contentType(mimeType) === 'application/x-www-form-urlencoded') return queryShape(new URLSearchParams(text))
  if (!isJsonType(mimeType) && !/^\s*[[{]/.test(text)) return emptyShape
  try {
    return shapeOf(JSON.parse(text))
  } catch {
    return emptyShape
  }
}

function queryShape(query: URLSearchParams): Shape {
  const names = [...new Set(query.keys())].slice(0, maxQueryNames)
  return objectShape(
    names.map((name) => {
      const values = query.getAll(name)
      const shape = values.map(plainTextShape).reduce(join, emptyShape)
      return [name, values.length > 1 ? { scalars: [], items: shape } : shape]
    }),
  )
}

function contentType(mimeType: string): string {
  return (mimeType.split(';', 1)[0] ?? '').trim().toLowerCase().slice(0, 100)
}

function authOf(headers: readonly Header[]): string {
  const kinds: string[] = []
  for (const { name, value } of headers) {
    const lower = name.toLowerCase()
    if (lower === 'authorization')
      kinds.push(/^(bearer|basic|digest|negotiate)\b/i.exec(value)?.[1]?.toLowerCase() ?? 'authorization')
    else if (lower === 'cookie') kinds.push('cookie')
    else if (/^[\w-]{0,60}(?:api-?key|auth|token)$/.test(lower)) kinds.push(`header ${lower}`)
  }
  return kinds.length === 0 ? 'none' : [...new Set(kinds)].sort().slice(0, 3).join(' + ')
}

function addTo(set: Set<string>, value: string, max: number): void {
  if (value !== '' && set.size < max) set.add(value)
}
