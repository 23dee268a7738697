import { randomUUID } from 'node:crypto'
import { type CallResult, ClientError, type ConnectionEvent, type ConnectOptions } from '@unfold-mcp/client'
import { ByteLines, printable, type Tool } from '@unfold-mcp/core'
import type { UpstreamCall, UpstreamConnection } from '../../upstreams/connection.ts'
import { UpstreamError } from '../../upstreams/errors.ts'
import type { Holder } from '../lease.ts'
import {
  answerOf,
  type ConnectionInfo,
  errorOf,
  type Forwarded,
  forwardPath,
  isTools,
  type Line,
  parseLine,
  sentOptions,
} from './messages.ts'
import { type Signatures, signatureHeader } from './signature.ts'

export interface PeerOptions {
  readonly server: string
  readonly holder: Holder
  readonly signatures: Signatures
  /** Without a sign of life for this long, the holder is gone. */
  readonly silenceMs: number
  readonly openTimeoutMs: number
  readonly connect: Pick<ConnectOptions, 'signal' | 'onLog' | 'onDocumentChange' | 'maxMessageBytes'>
}

const defaultMaxBytes = 32 * 2 ** 20
const shortTimeoutMs = 10_000
const notCalled = 'The tool was not called; try again in a moment.'

/**
 * Connection to a server that another replica runs. It lasts as long as the connection of that replica; requests and their progress,
 * log messages and questions pass through it.
 */
export class PeerConnection implements UpstreamConnection {
  readonly pid = undefined
  readonly #options: PeerOptions
  readonly #peer = randomUUID()
  /** No more requests can be sent. */
  readonly #closed = new AbortController()
  /** Running requests, which fail when the holder is gone. */
  readonly #running = new Set<AbortController>()
  readonly #watchers = new Set<(event: ConnectionEvent) => void>()
  #info: ConnectionInfo | undefined
  #isDraining = false
  #isLost = false
  #received = 0

  /** Connects to the holder. Rejects if it cannot be reached, or does not have the server. */
  static async open(options: PeerOptions): Promise<PeerConnection> {
    const connection = new PeerConnection(options)
    await connection.#open()
    return connection
  }

  private constructor(options: PeerOptions) {
    this.#options = options
  }

  get era(): ConnectionInfo['era'] {
    return this.#known.era
  }

  get protocolVersion(): string {
    return this.#known.protocolVersion
  }

  get server(): ConnectionInfo['server'] {
    return this.#known.server
  }

  get instructions(): string | undefined {
    return this.#known.instructions
  }

  get capabilities(): ConnectionInfo['capabilities'] {
    return this.#known.capabilities
  }

  get received(): number {
    return this.#received
  }

  async refresh(signal?: AbortSignal): Promise<readonly Tool[]> {
    const tools = await this.#ask({ kind: 'tools' }, signal)
    if (isTools(tools)) return tools
    throw new ClientError('protocol', 'Another replica sent an invalid list.', { problem: 'invalid list' })
  }

  async watch(listener: (event: ConnectionEvent) => void): Promise<() => void> {
    this.#watchers.add(listener)
    return () => this.#watchers.delete(listener)
  }

  async ping({ signal }: { readonly timeoutMs?: number; readonly signal?: AbortSignal } = {}): Promise<void> {
    await this.#ask({ kind: 'ping' }, signal)
  }

  async call(tool: string, args: Readonly<Record<string, unknown>> = {}, options: UpstreamCall = {}): Promise<CallResult> {
    const request = { kind: 'call' as const, id: randomUUID(), tool, args: { ...args }, options: sentOptions(options) }
    return (await this.#exchange(request, options)) as CallResult
  }

  request(method: string, params: Readonly<Record<string, unknown>>, options: UpstreamCall = {}): Promise<unknown> {
    const id = randomUUID()
    return this.#exchange({ kind: 'request', id, method, params: { ...params }, options: sentOptions(options) }, options)
  }

  async restart(): Promise<void> {
    await this.#ask({ kind: 'restart' })
  }

  async subscribe(uri: string): Promise<void> {
    await this.#ask({ kind: 'subscribe', peer: this.#peer, uri, isWanted: true })
  }

  async unsubscribe(uri: string): Promise<void> {
    await this.#ask({ kind: 'subscribe', peer: this.#peer, uri, isWanted: false })
  }

  /** Fails running requests, unless the holder is shutting down and lets them finish. */
  async close(): Promise<void> {
    this.#closed.abort()
    if (!this.#isDraining) this.#lose()
  }

  onClose(listener: () => void): void {
    if (this.#closed.signal.aborted) listener()
    else this.#closed.signal.addEventListener('abort', listener, { once: true })
  }

  get #known(): ConnectionInfo {
    if (this.#info === undefined) throw this.#gone()
    return this.#info
  }

  /** Resolves when the holder has described its connection; follows it from then on. */
  async #open(): Promise<void> {
    const { connect, openTimeoutMs } = this.#options
    const stream = new AbortController()
    this.#running.add(stream)
    const abort = (): void => this.#lose()
    // A suspended replica accepts connections, and does not respond.
    const timer = setTimeout(abort, openTimeoutMs)
    connect.signal?.addEventListener('abort', abort)
    try {
      const lines = this.#lines(await this.#post({ kind: 'connect', peer: this.#peer }, stream.signal))
      while (this.#info === undefined) {
        const { value, done } = await lines.next()
        if (done === true) throw this.#gone()
        this.#info = value.connected
      }
      void this.#follow(lines)
    } finally {
      clearTimeout(timer)
      connect.signal?.removeEventListener('abort', abort)
    }
  }

  async #follow(lines: AsyncGenerator<Line>): Promise<void> {
    const { onLog, onDocumentChange } = this.#options.connect
    try {
      for await (const { changed, document, log, draining } of lines) {
        if (draining === true) {
          this.#isDraining = true
          this.#closed.abort()
        }
        if (log !== undefined) onLog?.(log)
        if (document?.kind === 'resync') this.#emit('resumed')
        else if (document !== undefined) onDocumentChange?.(document)
        if (changed === true) this.#emit('changed')
      }
    } catch {
      // The holder is gone.
    }
    this.#lose()
  }

  #lose(): void {
    this.#isLost = true
    this.#closed.abort()
    for (const request of this.#running) request.abort()
  }

  #emit(event: ConnectionEvent): void {
    for (const listener of this.#watchers) listener(event)
  }

  /** Sends a request that is answered at once. */
  #ask(request: Forwarded, signal?: AbortSignal): Promise<unknown> {
    const soon = AbortSignal.timeout(shortTimeoutMs)
    return this.#exchange(request, { signal: signal === undefined ? soon : AbortSignal.any([signal, soon]) })
  }

  async #exchange(request: Forwarded, { signal, onProgress, relay }: UpstreamCall): Promise<unknown> {
    const { server } = this.#options
    const ended = new AbortController()
    const abort = (): void => ended.abort()
    const questions = new Map<number, AbortController>()
    this.#running.add(ended)
    signal?.addEventListener('abort', abort)
    try {
      if (signal?.aborted === true || this.#isLost) abort()
      // Answers belong to a request that is still running.
      if (this.#closed.signal.aborted && request.kind !== 'answer') throw this.#unavailable()
      for await (const line of this.#lines(await this.#post(request, ended.signal))) {
        if (line.progress !== undefined) onProgress?.(line.progress)
        if (line.log !== undefined) relay?.onLog(line.log)
        if (line.withdrawn !== undefined) questions.get(line.withdrawn)?.abort()
        if (line.question !== undefined && relay !== undefined && 'id' in request) {
          const { id: question } = line.question
          const withdrawn = new AbortController()
          questions.set(question, withdrawn)
          const asking = AbortSignal.any([withdrawn.signal, ended.signal])
          void this.#answer(request.id, question, relay.onRequest(line.question.request, asking))
        }
        if (line.error !== undefined) throw errorOf(server, line.error)
        if ('result' in line) return line.result
      }
      throw this.#gone()
    } catch (error) {
      if (error instanceof UpstreamError || error instanceof ClientError) throw error
      if (signal?.aborted === true && !this.#isLost)
        throw new ClientError('cancelled', 'The request was cancelled.', { what: 'The request' }, { cause: error })
      throw this.#gone(error)
    } finally {
      // Ends the questions to the client too.
      abort()
      this.#running.delete(ended)
      signal?.removeEventListener('abort', abort)
    }
  }

  async #answer(
    id: string,
    question: number,
    answer: ReturnType<NonNullable<UpstreamCall['relay']>['onRequest']>,
  ): Promise<void> {
    const answered = await answerOf(answer)
    // If it does not arrive, the server stops waiting with the call.
    await this.#ask({ kind: 'answer', id, question, ...answered } as Forwarded).catch(() => undefined)
  }

  /** Sends a signed request. Rejects with an `UpstreamError` if the holder did not accept it. */
  async #post(request: Forwarded, signal: AbortSignal): Promise<Response> {
    const { holder, server, signatures } = this.#options
    const body = JSON.stringify(request)
    const signature = signatures.sign(forwardPath, { token: holder.token, server }, body)
    const response = await fetch(new URL(forwardPath, holder.address), {
      method: 'POST',
      headers: { 'content-type': 'application/json', [signatureHeader]: signature },
      body,
      redirect: 'error',
      signal,
    }).catch((error: unknown) => {
      if (!isNotSent(error)) throw error
      this.#closed.abort()
      throw this.#unavailable(error)
    })
    if (response.ok) return response
    await response.body?.cancel()
    // 409: the holder has changed; 503: it is starting or shutting down.
    if (response.status === 409) this.#closed.abort()
    if (response.status === 409 || response.status === 503) throw this.#unavailable()
    const detail = `cannot be used: another replica rejected the request (HTTP ${response.status}). Check that all replicas have the same "cluster.secret". The tool was not called.`
    throw new UpstreamError(server, 'unavailable', detail)
  }

  /** Reads the lines of a reply. Fails if the holder is silent for too long. */
  async *#lines({ body }: Response): AsyncGenerator<Line> {
    const { silenceMs, connect } = this.#options
    const lines = new ByteLines<Buffer>({
      allocate: (size) => Buffer.allocUnsafe(size),
      limit: 2 * (connect.maxMessageBytes ?? defaultMaxBytes),
    })
    const reader = body?.getReader()
    if (reader === undefined) return
    try {
      for (;;) {
        const { value, done } = await within(silenceMs, reader.read())
        if (done) return
        this.#received += value.length
        for (const line of lines.add(Buffer.from(value.buffer, value.byteOffset, value.byteLength))) {
          if (line === undefined) throw this.#tooLarge()
          yield parseLine(line)
        }
      }
    } finally {
      reader.cancel().catch(() => undefined)
    }
  }

  #unavailable(cause?: unknown): UpstreamError {
    const { server } = this.#options
    return new UpstreamError(server, 'unavailable', `is moving to another replica. ${notCalled}`, { cause, retryAfterMs: 1_000 })
  }

  #tooLarge(): UpstreamError {
    return new UpstreamError(this.#options.server, 'failed', 'sent a result that is too large to be forwarded.')
  }

  /** Becomes the message that the effect of a call is unknown. */
  #gone(cause?: unknown): ClientError {
    const { server, holder } = this.#options
    const target = `server "${printable(server)}" on the replica ${printable(holder.replica)}`
    return new ClientError('unreachable', `The connection to ${target} was lost.`, { target }, { cause })
  }
}

/** True if the connection was refused, so that nothing was sent. */
function isNotSent(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && 'code' in cause && ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'].includes(String(cause.code))
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`No sign of life for ${ms} ms.`)), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
