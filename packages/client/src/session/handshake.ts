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
  viewedUrl,
} from '../config/target.ts'
import { ClientError, isClientError, wordsOf } from '../errors/errors.ts'
import { asClientError } from '../errors/translation.ts'
import type { Clock } from '../time/clock.ts'
import { before, type Deadline } from '../time/deadline.ts'
import { type HttpOptions, HttpTransport } from '../transports/http.ts'
import { SseTransport } from '../transports/sse.ts'
import { type Output, type ProcessLife, StdioTransport } from '../transports/stdio.ts'
import type { Asking } from './elicitation.ts'
import type { DocumentNotice } from './notifications.ts'
import { probe, statelessRevision } from './probe.ts'
import { Relays } from './relay.ts'
import { type Agreement, Link } from './session.ts'

/** A session of a session-era server over HTTP, as it can be kept and taken up again, also by another process. */
export interface Session {
  readonly id: string
  readonly agreement: Agreement
}

/** Which revision to speak: whatever both can, the session era, or the one without sessions. */
export type ProtocolChoice = 'auto' | 'session' | '2026-07-28'

export interface DialOptions {
  readonly protocol: ProtocolChoice
  readonly clientInfo: Implementation
  readonly maxMessageBytes: number
  readonly timeoutMs: number
  /** How long a launcher may take to install, where that is longer. */
  readonly installTimeoutMs?: number | undefined
  readonly clock: Clock
  readonly onWarning: (warning: string) => void
  readonly view?: string | undefined
  readonly signal?: AbortSignal | undefined
  readonly asking?: Asking | undefined
  /** Whether what the server asks is for whoever a request is made for. */
  readonly relays?: boolean | undefined
  readonly session?: Session | undefined
  readonly onLog?: ((entry: LoggingMessageNotificationParams) => void) | undefined
  readonly onDocuments?: ((notice: DocumentNotice) => void) | undefined
  readonly onStderr?: ((line: string) => void) | undefined
  readonly onProcess?: ((pid: number, life: ProcessLife) => void) | undefined
}

/** Reaches a server and agrees with it on what to speak. Whatever was started for it is gone again when that fails. */
export async function dial(target: Target, options: DialOptions): Promise<Link> {
  if (isCommand(target)) return new Dialling(target, options).command(target)
  return isUrl(target) ? new Dialling(target, options).url(target) : new Dialling(target, options).local(target)
}

class Dialling {
  readonly #options: DialOptions
  readonly #label: string
  readonly #relays: Relays

  constructor(target: Target, options: DialOptions) {
    this.#label = labelOf(target)
    this.#options = options
    this.#relays = new Relays({ hasStreams: isUrl(target) })
  }

  async command(target: CommandTarget): Promise<Link> {
    const { protocol } = this.#options
    if (protocol === 'session') return this.#process(target, { kind: 'legacy' })
    try {
      return await this.#process(target)
    } catch (error) {
      // Servers of some makers end when they are asked anything before `initialize`; only they cost a second process.
      if (protocol !== 'auto' || !isClientError(error, 'server_died') || isNotInstalled(error)) throw error
      return this.#process(target, { kind: 'legacy' })
    }
  }

  async #process(target: CommandTarget, known?: PriorDiscovery): Promise<Link> {
    const { maxMessageBytes, clientInfo, clock, onWarning, onStderr, onProcess } = this.#options
    const told = { ...(onStderr !== undefined && { onStderr }), ...(onProcess !== undefined && { onProcess }) }
    const transport = new StdioTransport(target, { maxMessageBytes, onWarning, ...told })
    const { timeoutMs, installTimeoutMs = 0 } = this.#options
    const isLonger = transport.isInstalling && installTimeoutMs > timeoutMs
    const first = isLonger ? { over: transport.answered, timeoutMs: installTimeoutMs } : undefined
    const client = this.#client('legacy')
    const prior = async (): Promise<PriorDiscovery> => {
      const found = known ?? (await probe(transport, { clientInfo, clock, capabilities: this.#capabilities() }))
      if (found.kind === 'legacy') this.#refuseSession()
      return found
    }
    return this.#met({ client, transport, first }, async () =>
      client.connect(transport, { prior: await prior(), timeout: timeoutMs + (first?.timeoutMs ?? 0) }),
    )
  }

  async url(target: UrlTarget): Promise<Link> {
    const { url, transport: kind = 'auto' } = target
    if (!/^https?:\/\//iu.test(url) || !URL.canParse(url))
      throw new ClientError('unreachable', `${this.#label} is no address. Give one that begins with http:// or https://.`, {
        target: this.#label,
      })
    if (kind === 'sse') return this.#sse(target)
    try {
      return await this.#streamable(viewedUrl(url, this.#options.view), this.#httpOptions(target))
    } catch (error) {
      if (kind === 'http' || this.#options.protocol === statelessRevision || !isOlder(error)) throw error
      // Both refused: what the newer one said is what counts.
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

  async #streamable(url: URL, http: HttpOptions, release?: () => Promise<void>): Promise<Link> {
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
    return this.#met({ client, transport, release }, () => client.connect(transport, { timeout: timeoutMs }))
  }

  /** Goes on with a session, if the server still knows it. */
  async #resume(url: URL, http: HttpOptions, { id, agreement }: Session): Promise<Link | undefined> {
    const transport = new HttpTransport(url, { ...http, session: { id, protocolVersion: agreement.protocolVersion } })
    const client = this.#client('legacy')
    try {
      return await this.#met({ client, transport, agreement }, async () => {
        await client.connect(transport)
        await client.ping({ timeout: this.#options.timeoutMs })
        // Without it, the server cannot say anything by itself; some have no such stream.
        await transport.openPush().catch(() => undefined)
      })
    } catch (error) {
      if (transport.isGone) return undefined
      throw error
    }
  }

  async #sse(target: UrlTarget): Promise<Link> {
    this.#refuseSession()
    const client = this.#client('legacy')
    const transport = new SseTransport(viewedUrl(target.url, this.#options.view), this.#httpOptions(target))
    return this.#met({ client, transport }, () => client.connect(transport, { timeout: this.#options.timeoutMs }))
  }

  async local({ server }: LocalTarget): Promise<Link> {
    if (hasMethod(server, 'connect')) return this.#memory(server)
    const handler = hasMethod(server, 'fetch') ? { server, close: undefined } : await handlerOf(server)
    const url = viewedUrl('http://localhost/mcp', this.#options.view)
    const { maxMessageBytes, clock } = this.#options
    const answer = handler.server.fetch.bind(handler.server)
    const send: FetchLike = async (at, init) => (await answer(new Request(at, init))) as Response
    return this.#streamable(url, { label: this.#label, maxMessageBytes, clock, fetch: send }, handler.close)
  }

  async #memory(server: { connect(transport: Transport): unknown }): Promise<Link> {
    this.#refuseSession()
    const [transport, other] = InMemoryTransport.createLinkedPair()
    const client = this.#client('legacy')
    return this.#met({ client, transport }, async () => {
      await server.connect(other)
      await client.connect(transport, { timeout: this.#options.timeoutMs })
    })
  }

  /** Waits until they have met, within the time there is, and leaves nothing behind if they do not. */
  async #met(
    parts: {
      client: Client
      transport: Transport
      agreement?: Agreement
      release?: (() => Promise<void>) | undefined
      first?: Deadline['first']
    },
    meet: () => Promise<void>,
  ): Promise<Link> {
    const { client, transport, agreement, release, first } = parts
    const { timeoutMs, signal, clock } = this.#options
    const what = `Connecting to ${this.#label}`
    const hint = 'Is it an MCP server? If it is only slow, allow it more time.'
    try {
      await before(meet(), { what, hint, timeoutMs, first, signal, clock })
    } catch (error) {
      // Before it is ended, which may make it write more.
      const stuck =
        transport instanceof StdioTransport ? { ...transport.output, isInstalling: transport.isInstalling } : undefined
      // A process has to be gone before anything else is tried.
      await transport.close().catch(() => undefined)
      await release?.()
      const failure = transport instanceof StdioTransport ? transport.failure : undefined
      const translated = asClientError(error, { target: this.#label, what })
      if (isClientError(translated, 'cancelled')) throw translated
      if (isClientError(translated, 'timeout')) throw stuck === undefined ? translated : withOutput(translated, stuck)
      throw failure ?? translated
    }
    return new Link({
      client,
      transport,
      label: this.#label,
      relays: this.#relays,
      clock,
      agreement: agreement ?? agreed(client),
      isResumed: agreement !== undefined,
      ...(release !== undefined && { release }),
    })
  }

  #client(mode: VersionNegotiationMode): Client {
    const { clientInfo, asking, relays, onLog, onDocuments, onWarning } = this.#options
    const client = new Client(clientInfo, {
      capabilities: this.#capabilities(),
      versionNegotiation: { mode },
      jsonSchemaValidator: noValidation,
    })
    client.onerror = (error) => {
      if (!isLate(error)) onWarning(`${this.#label}: ${wordsOf(error)}`)
    }
    if (asking !== undefined)
      client.setRequestHandler('elicitation/create', ({ params }, ctx) => asking.ask(params, ctx.mcpReq.signal))
    if (relays === true) this.#relay(client)
    if (onLog !== undefined || relays === true)
      client.setNotificationHandler('notifications/message', ({ params }) => {
        this.#relays.log(params)
        onLog?.(params)
      })
    if (onDocuments !== undefined) hear(client, onDocuments)
    return client
  }

  /** What the server asks goes to whoever its request is about. */
  #relay(client: Client): void {
    client.setRequestHandler('elicitation/create', async ({ method, params }, ctx) => {
      return (await this.#relays.ask({ method, params }, ctx.mcpReq.signal)) as ElicitResult
    })
    client.setRequestHandler('sampling/createMessage', async ({ method, params }, ctx) => {
      return (await this.#relays.ask({ method, params }, ctx.mcpReq.signal)) as CreateMessageResult
    })
    client.fallbackRequestHandler = async ({ method }) => {
      const why = method === 'roots/list' ? 'There are no roots here, and none were declared.' : 'Method not found'
      throw new ProtocolError(ProtocolErrorCode.MethodNotFound, why)
    }
  }

  #capabilities(): ClientCapabilities {
    const { asking, relays } = this.#options
    if (relays === true) return { elicitation: { form: {}, url: {} }, sampling: {} }
    return asking === undefined ? {} : { elicitation: { form: {}, url: {} } }
  }

  #refuseSession(): void {
    if (this.#options.protocol !== statelessRevision) return
    throw new ClientError(
      'protocol',
      `${this.#label} does not speak ${statelessRevision}. Leave the protocol to be agreed on, or ask for 'session'.`,
      { problem: `no ${statelessRevision}` },
    )
  }
}

function hear(client: Client, onDocuments: (notice: DocumentNotice) => void): void {
  client.setNotificationHandler('notifications/prompts/list_changed', () => onDocuments({ kind: 'prompts' }))
  client.setNotificationHandler('notifications/resources/list_changed', () => onDocuments({ kind: 'resources' }))
  client.setNotificationHandler('notifications/resources/updated', ({ params: { uri } }) =>
    onDocuments({ kind: 'resource', uri }),
  )
}

// What a server returns is checked here, under a budget; the SDK would run code made from the server's schema.
const noValidation: jsonSchemaValidator = {
  getValidator:
    <T>(): JsonSchemaValidator<T> =>
    (input) => ({ valid: true, data: input as T, errorMessage: undefined }),
}

function agreed(client: Client): Agreement {
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

// The last report of progress may be read after the answer that came with it.
const isLate = ({ message }: Error): boolean => message.startsWith('Received a progress notification for an unknown token')

const olderStatus = new Set([400, 404, 405])

/** Whether a server that refused Streamable HTTP may be one from before it. */
function isOlder(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof SdkHttpError && olderStatus.has(cause.status)
}

/** A timeout with what the process wrote meanwhile. */
function withOutput(
  error: ClientError<'timeout'>,
  { lastLines, firstError, isInstalling }: Output & { readonly isInstalling: boolean },
): ClientError {
  const last = lastLines.length === 0 ? '' : ` Last stderr output: ${wordsOf(lastLines.slice(-3).join(' / '))}`
  const said = firstError === undefined ? last : ` It wrote: ${firstError}`
  const details = { ...error.details, lastLines, isInstalling, ...(firstError !== undefined && { firstError }) }
  return new ClientError('timeout', `${error.message}${said}`, details, { cause: error })
}

/** Whether it was never run, because it could not be installed: starting it again at once would fail in the same way. */
const isNotInstalled = ({ details }: ClientError<'server_died'>): boolean =>
  details.npxFolder !== undefined || details.lastLines.some((line) => /^npm (?:error|ERR!) code E/u.test(line))

function hasMethod<M extends string>(object: object, method: M): object is { [K in M]: (argument: unknown) => unknown } {
  return method in object && typeof (object as { readonly [key: string]: unknown })[method] === 'function'
}

/** A toolbox answers requests through the library that made it, which only whoever has a toolbox needs to have installed. */
async function handlerOf(served: object): Promise<{ server: { fetch(request: unknown): unknown }; close: () => Promise<void> }> {
  const library: string = '@unfold-mcp/server'
  const { createHandler } = (await import(/* @vite-ignore */ library)) as {
    readonly createHandler: (served: object) => { fetch(request: unknown): unknown; close(): Promise<void> }
  }
  const handler = createHandler(served)
  return { server: handler, close: () => handler.close() }
}
