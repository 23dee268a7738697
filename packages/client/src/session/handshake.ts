import {
  Client,
  type ClientCapabilities,
  type CreateMessageResult,
  type ElicitResult,
  type FetchLike,
  type Implementation,
  InMemoryTransport,
  type JsonSchemaValidator,
  type jsonSchemaValidator,
  type LoggingMessageNotificationParams,
  type PriorDiscovery,
  ProtocolError,
  ProtocolErrorCode,
  SdkHttpError,
  type Transport,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client'
import {
  type CommandTarget,
  isCommand,
  isUrl,
  type LocalTarget,
  labelOf,
  type Target,
  type UrlTarget,
  urlWithView,
} from '../config/target.ts'
import { toClientError } from '../errors/conversion.ts'
import { ClientError, errorMessage, isClientError } from '../errors/errors.ts'
import type { Clock } from '../time/clock.ts'
import { type Deadline, withDeadline } from '../time/deadline.ts'
import { type HttpOptions, HttpTransport } from '../transports/http.ts'
import { isNotInstalled, withOutput } from '../transports/process-errors.ts'
import type { ProcessState, Supervisor } from '../transports/server-process.ts'
import { SseTransport } from '../transports/sse.ts'
import { StdioTransport } from '../transports/stdio.ts'
import type { DocumentChange } from './document-change.ts'
import type { ElicitationQueue } from './elicitation.ts'
import { probe, statelessRevision } from './probe.ts'
import { RelayedRequests } from './relay.ts'
import { type Agreement, Session } from './session.ts'

/** HTTP session of a session-era server, serializable so that another process can resume it. */
export interface ResumableSession {
  readonly id: string
  readonly agreement: Agreement
}

/** Protocol revision: negotiated, any session-era revision, or 2026-07-28. */
export type ProtocolChoice = 'auto' | 'session' | '2026-07-28'

export interface HandshakeOptions {
  readonly protocol: ProtocolChoice
  readonly clientInfo: Implementation
  readonly maxMessageBytes: number
  readonly timeoutMs: number
  /** Timeout until the first message of a launcher, if longer than `timeoutMs`. */
  readonly installTimeoutMs?: number | undefined
  readonly clock: Clock
  readonly onWarning: (warning: string) => void
  readonly view?: string | undefined
  readonly signal?: AbortSignal | undefined
  readonly elicitations?: ElicitationQueue | undefined
  /** Forward requests of the server to the client whose request is in progress. */
  readonly relays?: boolean | undefined
  readonly session?: ResumableSession | undefined
  readonly onLog?: ((entry: LoggingMessageNotificationParams) => void) | undefined
  readonly onDocumentChange?: ((change: DocumentChange) => void) | undefined
  readonly onStderr?: ((line: string) => void) | undefined
  readonly onProcess?: ((pid: number, state: ProcessState, id: string) => void) | undefined
  readonly supervisor?: Supervisor | undefined
}

/** Connects to a server and negotiates the protocol. On failure, everything started for it is ended. */
export async function openSession(target: Target, options: HandshakeOptions): Promise<Session> {
  const handshake = new Handshake(target, options)
  if (isCommand(target)) return handshake.command(target)
  return isUrl(target) ? handshake.url(target) : handshake.local(target)
}

class Handshake {
  readonly #options: HandshakeOptions
  readonly #label: string
  readonly #relays: RelayedRequests

  constructor(target: Target, options: HandshakeOptions) {
    this.#label = labelOf(target)
    this.#options = options
    this.#relays = new RelayedRequests({ hasStreams: isUrl(target) })
  }

  async command(target: CommandTarget): Promise<Session> {
    const { protocol } = this.#options
    if (protocol === 'session') return this.#process(target, { kind: 'legacy' })
    try {
      return await this.#process(target)
    } catch (error) {
      // Some servers exit on any request before `initialize`; only they need a second process.
      if (protocol !== 'auto' || !isClientError(error, 'server_died') || isNotInstalled(error)) throw error
      return this.#process(target, { kind: 'legacy' })
    }
  }

  async #process(target: CommandTarget, known?: PriorDiscovery): Promise<Session> {
    const { maxMessageBytes, clientInfo, clock, onWarning, onStderr, onProcess, supervisor } = this.#options
    const transport = new StdioTransport(target, {
      maxMessageBytes,
      onWarning,
      ...(onStderr !== undefined && { onStderr }),
      ...(onProcess !== undefined && { onProcess }),
      supervisor,
    })
    const { timeoutMs, installTimeoutMs = 0 } = this.#options
    const isLonger = transport.process.isInstalling && installTimeoutMs > timeoutMs
    const first = isLonger ? { over: transport.process.answered, timeoutMs: installTimeoutMs } : undefined
    const client = this.#client('legacy')
    const prior = async (): Promise<PriorDiscovery> => {
      const discovery = known ?? (await probe(transport, { clientInfo, clock, capabilities: this.#capabilities() }))
      if (discovery.kind === 'legacy') this.#rejectSessionEra()
      return discovery
    }
    return this.#connect({ client, transport, first }, async () =>
      client.connect(transport, { prior: await prior(), timeout: timeoutMs + (first?.timeoutMs ?? 0) }),
    )
  }

  async url(target: UrlTarget): Promise<Session> {
    const { url, transport: kind = 'auto' } = target
    if (!/^https?:\/\//iu.test(url) || !URL.canParse(url))
      throw new ClientError('unreachable', `${this.#label} is not a valid URL. Use one that begins with http:// or https://.`, {
        target: this.#label,
      })
    if (kind === 'sse') return this.#sse(target)
    try {
      return await this.#streamable(urlWithView(url, this.#options.view), this.#httpOptions(target))
    } catch (error) {
      if (kind === 'http' || this.#options.protocol === statelessRevision || !isPreStreamable(error)) throw error
      // If both transports fail, the error of the newer one is reported.
      return this.#sse(target).catch(() => Promise.reject(error))
    }
  }

  #httpOptions({ headers, auth }: UrlTarget): HttpOptions {
    const { maxMessageBytes, clock } = this.#options
    return {
      label: this.#label,
      maxMessageBytes,
      clock,
      ...(headers !== undefined && { headers }),
      ...(auth !== undefined && { auth }),
    }
  }

  async #streamable(url: URL, http: HttpOptions, release?: () => Promise<void>): Promise<Session> {
    const { protocol, session, timeoutMs } = this.#options
    const resumed = session === undefined ? undefined : await this.#resume(url, http, session)
    if (resumed !== undefined) return resumed
    const modes: { readonly [P in ProtocolChoice]: VersionNegotiationMode } = {
      auto: 'auto',
      session: 'legacy',
      [statelessRevision]: { pin: statelessRevision },
    }
    const client = this.#client(modes[protocol])
    const transport = new HttpTransport(url, http)
    return this.#connect({ client, transport, release }, () => client.connect(transport, { timeout: timeoutMs }))
  }

  /** Resumes a session; `undefined` if the server has lost it. */
  async #resume(url: URL, http: HttpOptions, { id, agreement }: ResumableSession): Promise<Session | undefined> {
    const transport = new HttpTransport(url, { ...http, session: { id, protocolVersion: agreement.protocolVersion } })
    const client = this.#client('legacy')
    try {
      return await this.#connect({ client, transport, agreement }, async () => {
        await client.connect(transport)
        await client.ping({ timeout: this.#options.timeoutMs })
        // Carries notifications of the server; some servers have no such stream.
        await transport.openPushStream().catch(() => undefined)
      })
    } catch (error) {
      if (transport.isSessionLost) return undefined
      throw error
    }
  }

  async #sse(target: UrlTarget): Promise<Session> {
    this.#rejectSessionEra()
    const client = this.#client('legacy')
    const transport = new SseTransport(urlWithView(target.url, this.#options.view), this.#httpOptions(target))
    return this.#connect({ client, transport }, () => client.connect(transport, { timeout: this.#options.timeoutMs }))
  }

  async local({ server }: LocalTarget): Promise<Session> {
    if (hasMethod(server, 'connect')) return this.#memory(server)
    const handler = hasMethod(server, 'fetch') ? { server, close: undefined } : await handlerOf(server)
    const url = urlWithView('http://localhost/mcp', this.#options.view)
    const { maxMessageBytes, clock } = this.#options
    const handle = handler.server.fetch.bind(handler.server)
    const send: FetchLike = async (input, init) => (await handle(new Request(input, init))) as Response
    return this.#streamable(url, { label: this.#label, maxMessageBytes, clock, fetch: send }, handler.close)
  }

  async #memory(server: { connect(transport: Transport): unknown }): Promise<Session> {
    this.#rejectSessionEra()
    const [transport, serverTransport] = InMemoryTransport.createLinkedPair()
    const client = this.#client('legacy')
    return this.#connect({ client, transport }, async () => {
      await server.connect(serverTransport)
      await client.connect(transport, { timeout: this.#options.timeoutMs })
    })
  }

  /** Runs the handshake within the timeout, and cleans up if it fails. */
  async #connect(
    parts: {
      client: Client
      transport: Transport
      agreement?: Agreement
      release?: (() => Promise<void>) | undefined
      first?: Deadline['first']
    },
    handshake: () => Promise<void>,
  ): Promise<Session> {
    const { client, transport, agreement, release, first } = parts
    const { timeoutMs, signal, clock } = this.#options
    const what = `Connecting to ${this.#label}`
    const hint = 'Is it an MCP server? If it is slow, increase the timeout.'
    try {
      await withDeadline(handshake(), { what, hint, timeoutMs, first, signal, clock })
    } catch (error) {
      // Read before the process is ended, which may make it write more.
      const server = transport instanceof StdioTransport ? transport.process : undefined
      const output = server === undefined ? undefined : { ...server.output, isInstalling: server.isInstalling }
      // The process must be gone before a second attempt.
      await transport.close().catch(() => undefined)
      await release?.()
      const converted = toClientError(error, { target: this.#label, what })
      if (isClientError(converted, 'cancelled')) throw converted
      if (isClientError(converted, 'timeout')) throw output === undefined ? converted : withOutput(converted, output)
      throw server?.failure ?? converted
    }
    return new Session({
      client,
      transport,
      label: this.#label,
      relays: this.#relays,
      clock,
      agreement: agreement ?? agreementOf(client),
      isResumed: agreement !== undefined,
      ...(release !== undefined && { release }),
    })
  }

  #client(mode: VersionNegotiationMode): Client {
    const { clientInfo, elicitations, relays, onLog, onDocumentChange, onWarning } = this.#options
    const client = new Client(clientInfo, {
      capabilities: this.#capabilities(),
      versionNegotiation: { mode },
      jsonSchemaValidator: noValidation,
    })
    client.onerror = (error) => {
      if (isLateProgress(error)) return
      // The message of the SDK contains the whole response.
      const problem = isUnknownResponse(error) ? 'a response to an unknown request was ignored.' : errorMessage(error)
      onWarning(`${this.#label}: ${problem}`)
    }
    if (elicitations !== undefined)
      client.setRequestHandler('elicitation/create', ({ params }, ctx) => elicitations.enqueue(params, ctx.mcpReq.signal))
    if (relays === true) this.#relay(client)
    if (onLog !== undefined || relays === true)
      client.setNotificationHandler('notifications/message', ({ params }) => {
        this.#relays.log(params)
        onLog?.(params)
      })
    if (onDocumentChange !== undefined) reportDocumentChanges(client, onDocumentChange)
    return client
  }

  /** Forwards requests of the server to the client whose request is in progress. */
  #relay(client: Client): void {
    client.setRequestHandler('elicitation/create', async ({ method, params }, ctx) => {
      return (await this.#relays.forward({ method, params }, ctx.mcpReq.signal)) as ElicitResult
    })
    client.setRequestHandler('sampling/createMessage', async ({ method, params }, ctx) => {
      return (await this.#relays.forward({ method, params }, ctx.mcpReq.signal)) as CreateMessageResult
    })
    client.fallbackRequestHandler = async ({ method }) => {
      const message = method === 'roots/list' ? 'This client does not support roots.' : 'Method not found'
      throw new ProtocolError(ProtocolErrorCode.MethodNotFound, message)
    }
  }

  #capabilities(): ClientCapabilities {
    const { elicitations, relays } = this.#options
    if (relays === true) return { elicitation: { form: {}, url: {} }, sampling: {} }
    return elicitations === undefined ? {} : { elicitation: { form: {}, url: {} } }
  }

  #rejectSessionEra(): void {
    if (this.#options.protocol !== statelessRevision) return
    throw new ClientError(
      'protocol',
      `${this.#label} does not support ${statelessRevision}. Set protocol to 'auto' or 'session'.`,
      { problem: `no support for ${statelessRevision}`, unsupportedRevision: statelessRevision },
    )
  }
}

function reportDocumentChanges(client: Client, onDocumentChange: (change: DocumentChange) => void): void {
  client.setNotificationHandler('notifications/prompts/list_changed', () => onDocumentChange({ kind: 'prompts' }))
  client.setNotificationHandler('notifications/resources/list_changed', () => onDocumentChange({ kind: 'resources' }))
  client.setNotificationHandler('notifications/resources/updated', ({ params: { uri } }) =>
    onDocumentChange({ kind: 'resource', uri }),
  )
}

// Results are validated by this library, with a budget; the SDK would compile the server's schema to code.
const noValidation: jsonSchemaValidator = {
  getValidator:
    <T>(): JsonSchemaValidator<T> =>
    (input) => ({ valid: true, data: input as T, errorMessage: undefined }),
}

function agreementOf(client: Client): Agreement {
  const { name = 'unknown', version = '', title, description, websiteUrl } = client.getServerVersion() ?? {}
  const instructions = client.getInstructions()
  return {
    era: client.getProtocolEra() === 'modern' ? 'stateless' : 'session',
    protocolVersion: client.getNegotiatedProtocolVersion() ?? '',
    server: {
      name,
      version,
      ...(title !== undefined && { title }),
      ...(description !== undefined && { description }),
      ...(websiteUrl !== undefined && { websiteUrl }),
    },
    capabilities: client.getServerCapabilities() ?? {},
    ...(instructions !== undefined && { instructions }),
  }
}

// The last progress notification may be handled after the response that followed it.
const isLateProgress = ({ message }: Error): boolean =>
  message.startsWith('Received a progress notification for an unknown token')

const isUnknownResponse = ({ message }: Error): boolean => message.startsWith('Received a response for an unknown message ID')

const preStreamableStatus = new Set([400, 404, 405])

/** The server that refused Streamable HTTP may support the older HTTP+SSE transport. */
function isPreStreamable(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof SdkHttpError && preStreamableStatus.has(cause.status)
}

function hasMethod<M extends string>(object: object, method: M): object is { [K in M]: (argument: unknown) => unknown } {
  return method in object && typeof (object as { readonly [key: string]: unknown })[method] === 'function'
}

// Loaded on demand: only callers that pass a toolbox have the server library installed.
async function handlerOf(served: object): Promise<{ server: { fetch(request: unknown): unknown }; close: () => Promise<void> }> {
  const library: string = '@unfold-mcp/server'
  const { createHandler } = (await import(/* @vite-ignore */ library)) as {
    readonly createHandler: (served: object) => { fetch(request: unknown): unknown; close(): Promise<void> }
  }
  const handler = createHandler(served)
  return { server: handler, close: () => handler.close() }
}
