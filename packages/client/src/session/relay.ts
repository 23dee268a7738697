import { AsyncLocalStorage } from 'node:async_hooks'
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type CreateMessageRequest,
  type CreateMessageResult,
  type CreateMessageResultWithTools,
  type ElicitRequest,
  type ElicitResult,
  LOG_LEVEL_META_KEY,
  type LoggingLevel,
  type LoggingMessageNotificationParams,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/client'

/** What a server asks while it answers. */
export type Question = ElicitRequest | CreateMessageRequest

export type Answer = ElicitResult | CreateMessageResult | CreateMessageResultWithTools

/** Whoever a request is made for: what the server asks and says meanwhile is for them. */
export interface Relay {
  /** What can be asked of them, for servers that are told so with every request. */
  readonly capabilities: ClientCapabilities
  /** From which level on they read the log, likewise. */
  readonly logLevel?: LoggingLevel | undefined
  /** Answers what a session-era server asks. The signal is aborted when nobody waits for the answer any more. */
  readonly ask: (question: Question, signal: AbortSignal) => Promise<Answer>
  readonly onLog: (entry: LoggingMessageNotificationParams) => void
  /** The answers to what the server wanted to know in place of a result, and what it gave to be told with them. */
  readonly answers?: { readonly inputResponses?: unknown; readonly requestState?: string } | undefined
}

const mostQuestions = 16

/** A request that is made for somebody, while it is under way. */
export class Relayed {
  readonly #relay: Relay
  /** Made for the first question; most requests have none. */
  #over: AbortController | undefined
  #open = 0

  constructor(relay: Relay) {
    this.#relay = relay
  }

  /** Whether they are being asked: nobody should run out of time over that. */
  get isAsking(): boolean {
    return this.#open > 0
  }

  async ask(question: Question, signal: AbortSignal): Promise<Answer> {
    if (this.#open >= mostQuestions)
      throw new ProtocolError(ProtocolErrorCode.InvalidRequest, `More than ${mostQuestions} questions are open for one request.`)
    this.#open++
    this.#over ??= new AbortController()
    try {
      return await this.#relay.ask(question, AbortSignal.any([signal, this.#over.signal]))
    } finally {
      this.#open--
    }
  }

  log(entry: LoggingMessageNotificationParams): void {
    this.#relay.onLog(entry)
  }

  end(): void {
    this.#over?.abort()
  }
}

const words = {
  nobody: 'Nobody is making a request that this could be about, so nobody can be asked.',
  several: 'Several requests are being made, and it cannot be told which of them this is about. Ask again while only one is.',
} as const

/**
 * The requests on one link that are made for somebody. Whose a message of the server is follows from the stream it came on,
 * where each request has its own; else it is clear only while there is one request.
 */
export class Relays {
  // Until Node 24 the first use of this slows down every promise of the process, so it is left alone where it tells nothing.
  readonly #stream: AsyncLocalStorage<Relayed> | undefined
  readonly #open = new Set<Relayed>()

  /** `hasStreams`: each request has a stream of its own. */
  constructor({ hasStreams }: { readonly hasStreams: boolean }) {
    this.#stream = hasStreams ? new AsyncLocalStorage() : undefined
  }

  /** Does `work`, which sends one request and waits for its answer. */
  async during<T>(relayed: Relayed | undefined, work: () => Promise<T>): Promise<T> {
    if (relayed === undefined) return work()
    this.enter(relayed)
    try {
      return await (this.#stream === undefined ? work() : this.#stream.run(relayed, work))
    } finally {
      this.leave(relayed)
    }
  }

  /** The same for one that has no stream of its own: it is under way from here on. */
  enter(relayed: Relayed | undefined): void {
    if (relayed !== undefined) this.#open.add(relayed)
  }

  leave(relayed: Relayed | undefined): void {
    if (relayed === undefined) return
    this.#open.delete(relayed)
    relayed.end()
  }

  async ask(question: Question, signal: AbortSignal): Promise<Answer> {
    const whose = this.#whose()
    if (typeof whose === 'string') throw new ProtocolError(ProtocolErrorCode.InvalidRequest, words[whose])
    return whose.ask(question, signal)
  }

  log(entry: LoggingMessageNotificationParams): void {
    const whose = this.#whose()
    if (typeof whose !== 'string') whose.log(entry)
  }

  #whose(): Relayed | 'nobody' | 'several' {
    const known = this.#stream?.getStore()
    if (known !== undefined) return this.#open.has(known) ? known : 'nobody'
    const [first, second] = this.#open
    return second === undefined ? (first ?? 'nobody') : 'several'
  }
}

/** What a request for somebody carries beside its parameters, in the era in which every request says all. */
export function relayParams({ capabilities, logLevel, answers }: Relay): Record<string, unknown> {
  return {
    ...(answers?.inputResponses !== undefined && { inputResponses: answers.inputResponses }),
    ...(answers?.requestState !== undefined && { requestState: answers.requestState }),
    _meta: {
      [CLIENT_CAPABILITIES_META_KEY]: capabilities,
      ...(logLevel !== undefined && { [LOG_LEVEL_META_KEY]: logLevel }),
    },
  }
}
