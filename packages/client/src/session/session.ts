import type { Client, RequestOptions, ServerCapabilities, StandardSchemaV1, Transport } from '@modelcontextprotocol/client'
import { type ClientError, cancelled } from '../errors/errors.ts'
import { asClientError } from '../errors/translation.ts'
import type { Clock } from '../time/clock.ts'
import { HttpTransport, type Pushes } from '../transports/http.ts'
import { SseTransport } from '../transports/sse.ts'
import { StdioTransport } from '../transports/stdio.ts'
import type { Relays } from './relay.ts'
import { Requests } from './requests.ts'

/** Which generation of the protocol a connection speaks: with sessions, or (2026-07-28) without. */
export type Era = 'session' | 'stateless'

/** What a server says it is. */
export interface ServerInfo {
  readonly name: string
  readonly version: string
  readonly title?: string
  readonly description?: string
  readonly websiteUrl?: string
}

/** What is agreed when a client and a server meet. */
export interface Agreement {
  readonly era: Era
  readonly protocolVersion: string
  readonly server: ServerInfo
  readonly capabilities: ServerCapabilities
  readonly instructions?: string
}

export interface LinkParts {
  readonly client: Client
  readonly transport: Transport
  readonly agreement: Agreement
  /** What to call the server in messages. */
  readonly label: string
  readonly relays: Relays
  readonly clock: Clock
  /** Whether they had agreed before, so that what was announced then may have changed. */
  readonly isResumed?: boolean
  /** Releases what was made for this link alone. */
  readonly release?: () => Promise<void>
}

const anything: StandardSchemaV1<unknown, unknown> = {
  '~standard': { version: 1, vendor: 'unfold', validate: (value) => ({ value }) },
}

/** One client of the SDK on one transport, from when they agreed until it is over. */
export class Link {
  readonly client: Client
  readonly agreement: Agreement
  readonly label: string
  /** The requests that are made for somebody else. */
  readonly relays: Relays
  /** How calls are sent where the SDK is not needed for them. */
  readonly requests: Requests | undefined
  readonly isResumed: boolean
  readonly #transport: Transport
  readonly #release: (() => Promise<void>) | undefined
  readonly #listeners = new Set<() => void>()
  #isOver = false

  constructor({ client, transport, agreement, label, relays, clock, isResumed = false, release }: LinkParts) {
    this.client = client
    this.agreement = agreement
    this.label = label
    this.relays = relays
    this.isResumed = isResumed
    this.#transport = transport
    this.#release = release
    const isDirect = agreement.era === 'session' && transport instanceof StdioTransport
    const requests = isDirect ? new Requests(transport, clock, (error) => client.onerror?.(error)) : undefined
    this.requests = requests
    client.onclose = () => this.#over()
    const { onmessage } = transport
    // The SDK reads a notice a moment later than an answer, and forgets who waits for progress once the answer is there.
    transport.onmessage = (message, extra) => {
      if (requests?.takes(message) === true) return
      if ('method' in message) onmessage?.(message, extra)
      else queueMicrotask(() => onmessage?.(message, extra))
    }
    if (transport instanceof HttpTransport) transport.ongone = () => this.#over()
  }

  /** Whether nothing can be sent over it any more. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Why it is over, where somebody else than this client ended it. */
  get failure(): ClientError | undefined {
    const transport = this.#transport
    return transport instanceof StdioTransport || transport instanceof SseTransport ? transport.failure : undefined
  }

  /** Whether another link to the same server would be as good: what was started for this one alone cannot be had again. */
  get canRenew(): boolean {
    return this.#transport instanceof HttpTransport || this.#transport instanceof SseTransport
  }

  /** Whether the server forgot the session, so that a request that was refused can be sent again in another. */
  get isForgotten(): boolean {
    return this.#transport instanceof HttpTransport && this.#transport.isGone
  }

  /** Resolves when no answer is waited for any more in a session that the server has forgotten. */
  get lastAnswers(): Promise<void> {
    return this.#transport instanceof HttpTransport ? this.#transport.lastAnswers : Promise.resolve()
  }

  /** Whether a session-era server can be heard when it says something by itself. */
  get pushes(): Pushes {
    return this.#transport instanceof HttpTransport ? this.#transport.pushes : 'open'
  }

  get sessionId(): string | undefined {
    return this.#transport instanceof HttpTransport ? this.#transport.sessionId : undefined
  }

  /** Whether arguments may have to be repeated in headers. */
  get needsHeaders(): boolean {
    return this.agreement.era === 'stateless' && this.#transport instanceof HttpTransport
  }

  get pid(): number | undefined {
    return this.#transport instanceof StdioTransport ? this.#transport.pid : undefined
  }

  /** How many bytes have come in, where that is known. */
  get received(): number {
    const transport = this.#transport
    const counts = transport instanceof HttpTransport || transport instanceof SseTransport || transport instanceof StdioTransport
    return counts ? transport.received : 0
  }

  /** Calls `opened` when the server can be heard (again): what it said before is lost. */
  onPush(opened: () => void): void {
    if (this.#transport instanceof HttpTransport) this.#transport.onpush = opened
  }

  /** Calls `broke` when what the server is heard over broke; it is opened again by itself. */
  onBreak(broke: () => void): void {
    if (this.#transport instanceof HttpTransport) this.#transport.onbreak = broke
  }

  onOver(over: () => void): void {
    if (this.#isOver) over()
    else this.#listeners.add(over)
  }

  /** Sends a request and returns its result as it came; throws errors of ours. */
  async request(method: string, params: Record<string, unknown>, options: RequestOptions & { what: string }): Promise<unknown> {
    const { what, ...rest } = options
    try {
      return await this.client.request({ method, params }, anything, rest)
    } catch (error) {
      // The SDK calls this a timeout.
      if (rest.signal?.aborted === true) throw cancelled(what, error)
      throw this.translated(error, what)
    }
  }

  /** An error of this link as one of ours. When it is over, the reason for that is the reason. */
  translated(error: unknown, what: string): ClientError {
    const translated = asClientError(error, { target: this.label, what })
    return translated.reason === 'unreachable' ? (this.failure ?? translated) : translated
  }

  /** Tells the server that the session is over, where there is one. */
  async endSession(): Promise<void> {
    if (this.#transport instanceof HttpTransport && !this.#transport.isGone) await this.#transport.endSession()
  }

  async close(): Promise<void> {
    try {
      await this.client.close()
      // After it was lost the SDK no longer knows its transport.
      await this.#transport.close()
    } finally {
      await this.#release?.()
      this.#over()
    }
  }

  #over(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.requests?.end()
    for (const over of this.#listeners) over()
    this.#listeners.clear()
  }
}
