import type { ClientResult, Relay, ServerRequest } from '@unfold-mcp/client'
import type { Exchange } from '@unfold-mcp/server'
import type { UpstreamCall } from '../../upstreams/connection.ts'
import { asUpstreamError } from '../../upstreams/errors.ts'
import type { Upstream } from '../../upstreams/upstream.ts'
import type { Upstreams } from '../../upstreams/upstreams.ts'
import type { LeasedConnection } from './leased-connection.ts'
import { eventHeaders, eventOf, type LineWriter, lineStream } from './line-stream.ts'
import {
  type ConnectionInfo,
  errorLine,
  type Forwarded,
  type ForwardedCall,
  forwardPath,
  type Line,
  parseForwarded,
  refusedAnswer,
} from './messages.ts'
import { type Signatures, signatureHeader } from './signature.ts'

export interface ForwardHandlerOptions {
  readonly upstreams: Upstreams
  /** The connection to a server that this replica runs under a lease. */
  readonly held: (server: string) => LeasedConnection | undefined
  readonly signatures: Signatures
  readonly heartbeatMs: number
  /** Maximum size of a client request. */
  readonly maxBodyBytes: () => number
  /** False if clients can no longer use a tool. */
  readonly isServed: (server: string, tool: string) => boolean
}

interface Question {
  readonly answer: (result: ClientResult) => void
  readonly refuse: (error: Error) => void
}

type Of<K extends Forwarded['kind']> = Extract<Forwarded, { readonly kind: K }>

interface Target {
  readonly connection: LeasedConnection
  readonly upstream: Upstream
}

// Beyond the arguments that the client sent.
const envelopeBytes = 262_144

/** Handles requests from other replicas for servers that run here. */
export class ForwardHandler {
  readonly #options: ForwardHandlerOptions
  /** Streams of other replicas, by the connection that they last as long as. */
  readonly #streams = new Map<LeasedConnection, Set<LineWriter>>()
  /** Open questions to clients, by call. */
  readonly #questions = new Map<string, Map<number, Question>>()
  #running = 0
  #isDraining = false

  constructor(options: ForwardHandlerOptions) {
    this.#options = options
  }

  async handle(request: Request, exchange: Exchange): Promise<Response> {
    if (request.method !== 'POST') return refused(405, 'Use POST.')
    const verified = this.#options.signatures.verify(forwardPath, exchange.header(signatureHeader))
    if (verified === undefined) return refused(401, 'The signature is invalid.')
    const body = await exchange.body(this.#options.maxBodyBytes() + envelopeBytes)
    if (body === undefined) return refused(413, 'The request is too large.')
    if (!verified.isBody(body)) return refused(401, 'The signature is invalid.')
    const forwarded = parseForwarded(body)
    if (forwarded === undefined) return refused(400, 'The request is invalid. Use the same version on all replicas.')
    const { server, token } = verified
    const connection = this.#options.held(server)
    const upstream = this.#options.upstreams.get(server)
    if (connection === undefined || connection.lease.token !== token || !connection.lease.isHeld || upstream === undefined)
      return refused(409, 'This replica does not run the server.')
    const isNew = ['connect', 'call', 'request'].includes(forwarded.kind)
    if (isNew && (this.#isDraining || upstream.connection !== connection)) return refused(503, 'Try again later.')
    return this.#respond(forwarded, { connection, upstream }, request.signal)
  }

  /** Refuses new requests. The other replicas move on when running ones have finished. */
  drain(): void {
    this.#isDraining = true
    for (const stream of this.#allStreams) stream.write({ draining: true })
    this.#endDrained()
  }

  get #allStreams(): readonly LineWriter[] {
    return [...this.#streams.values()].flatMap((streams) => [...streams])
  }

  #endDrained(): void {
    if (this.#isDraining && this.#running === 0) for (const stream of this.#allStreams) stream.end()
  }

  #streamsOf(connection: LeasedConnection): Set<LineWriter> {
    const known = this.#streams.get(connection)
    if (known !== undefined) return known
    const streams = new Set<LineWriter>()
    this.#streams.set(connection, streams)
    connection.onClose(() => {
      this.#streams.delete(connection)
      for (const stream of [...streams]) stream.end()
    })
    return streams
  }

  #respond(forwarded: Forwarded, target: Target, disconnected: AbortSignal): Response | Promise<Response> {
    const { upstream } = target
    if (forwarded.kind === 'connect') return this.#connect(forwarded.peer, target, disconnected)
    if (forwarded.kind === 'call' || forwarded.kind === 'request') return this.#call(forwarded, upstream, disconnected)
    if (forwarded.kind === 'subscribe') return this.#subscribe(forwarded, target)
    if (forwarded.kind === 'answer') this.#answer(forwarded)
    if (forwarded.kind === 'restart') upstream.restart()
    return result(forwarded.kind === 'tools' ? upstream.tools : {})
  }

  async #subscribe({ peer, uri, isWanted }: Of<'subscribe'>, { connection, upstream }: Target): Promise<Response> {
    try {
      await (isWanted ? connection.subscribeFor(peer, uri) : connection.unsubscribeFor(peer, uri))
      return result({})
    } catch (error) {
      return line({ error: errorLine(asUpstreamError(upstream.name, 'resources/subscribe', error)) })
    }
  }

  #answer({ id, question, result: answer, error }: Of<'answer'>): void {
    const open = this.#questions.get(id)?.get(question)
    if (answer === undefined) open?.refuse(refusedAnswer(error ?? {}))
    else open?.answer(answer as ClientResult)
  }

  #connect(peer: string, { connection, upstream }: Target, disconnected: AbortSignal): Response {
    const { upstreams, heartbeatMs } = this.#options
    const { era, protocolVersion, server, instructions, capabilities } = connection
    const connected: ConnectionInfo = {
      ...{ era, protocolVersion, server, capabilities },
      ...(instructions !== undefined && { instructions }),
    }
    let stop: () => void = () => undefined
    const start = (writer: LineWriter): void => {
      const streams = this.#streamsOf(connection).add(writer)
      const unsubscribe = upstreams.events.all((event) => {
        if (event.upstream !== upstream.name) return
        if (event.type === 'tools') writer.write({ changed: true })
        else if (event.type === 'documents') writer.write({ document: event.notice })
        else if (event.type === 'log') writer.write({ log: event.entry }, true)
      })
      stop = () => {
        unsubscribe()
        streams.delete(writer)
        connection.forget(peer)
      }
      writer.write({ connected })
    }
    return lineStream({ disconnected, heartbeatMs }, start, () => stop())
  }

  #call(forwarded: ForwardedCall, upstream: Upstream, disconnected: AbortSignal): Response {
    const { heartbeatMs } = this.#options
    const run = async (writer: LineWriter): Promise<void> => {
      this.#running++
      try {
        writer.write({ result: (await this.#send(forwarded, upstream, writer, disconnected)) ?? null })
      } catch (error) {
        const what = forwarded.kind === 'call' ? forwarded.tool : forwarded.method
        writer.write({ error: errorLine(asUpstreamError(upstream.name, what, error)) })
      } finally {
        this.#running--
        this.#questions.delete(forwarded.id)
        writer.end()
        this.#endDrained()
      }
    }
    return lineStream(
      { disconnected, heartbeatMs },
      (writer) => void run(writer),
      () => undefined,
    )
  }

  #send(forwarded: ForwardedCall, upstream: Upstream, writer: LineWriter, signal: AbortSignal): Promise<unknown> {
    const { progress, relay, caller, meta, timeoutMs, maxTimeoutMs } = forwarded.options
    const options: UpstreamCall = {
      signal,
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(maxTimeoutMs !== undefined && { maxTimeoutMs }),
      ...(caller !== undefined && { caller }),
      ...(meta !== undefined && { meta }),
      ...(progress && { onProgress: (report) => writer.write({ progress: report }, true) }),
      ...(relay !== undefined && { relay: this.#relay(forwarded.id, relay, writer) }),
    }
    if (forwarded.kind === 'request') return upstream.request(forwarded.method, forwarded.params, options)
    const isServed = (): boolean => this.#options.isServed(upstream.name, forwarded.tool)
    return upstream.call(forwarded.tool, forwarded.args, { ...options, isServed })
  }

  #relay(id: string, sent: NonNullable<ForwardedCall['options']['relay']>, writer: LineWriter): Relay {
    let last = 0
    const ask = (request: ServerRequest, signal: AbortSignal): Promise<ClientResult> => {
      const question = ++last
      const open = this.#questions.get(id) ?? new Map<number, Question>()
      this.#questions.set(id, open)
      return new Promise<ClientResult>((answer, refuse) => {
        open.set(question, { answer, refuse })
        signal.addEventListener('abort', () => {
          writer.write({ withdrawn: question })
          refuse(new Error('The request was withdrawn.'))
        })
        writer.write({ question: { id: question, request } })
      }).finally(() => open.delete(question))
    }
    return {
      ...(sent as Pick<Relay, 'capabilities' | 'logLevel' | 'inputs'>),
      onRequest: ask,
      onLog: (entry) => writer.write({ log: entry }, true),
    }
  }
}

const result = (value: unknown): Response => line({ result: value })

const line = (value: Line): Response => new Response(eventOf(value), { headers: eventHeaders })

const refused = (status: number, error: string): Response => Response.json({ error }, { status })
