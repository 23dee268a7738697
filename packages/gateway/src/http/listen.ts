import { type Handler, type Listening, listen } from '@unfold-mcp/server'
import { allowedHosts } from '../access/allowed-hosts.ts'
import { authenticate } from '../access/authenticate.ts'
import { StatelessClients, sessionStatus } from '../access/clients.ts'
import type { ReloadResult } from '../admin/api.ts'
import { EventStreams } from '../admin/event-stream.ts'
import type { Log } from '../base/log.ts'
import { mcpPath } from '../base/mcp-path.ts'
import { localUrl } from '../config/address.ts'
import type { ConfigProblem } from '../config/problem.ts'
import { isLoopback } from '../config/rules.ts'
import type { Gateway } from '../gateway/gateway.ts'
import type { DegradedPart } from '../observability/degraded.ts'
import type { Journal } from '../observability/journal.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { Redactor } from '../observability/redactor.ts'
import { Bridges } from './bridges.ts'
import { FirstTools } from './first-tools.ts'
import { Requests } from './requests.ts'
import { routes } from './routes.ts'

export interface HttpOptions {
  readonly host: string
  readonly port: number
  /** What opens the administration. */
  readonly admin: string
  /** What lets stdio clients of the same user in; none where no clients are served. */
  readonly bridge: string | undefined
  /** The configuration file. */
  readonly config: string
  readonly log: Log
  readonly journal: Journal
  readonly metrics: Metrics
  readonly secrets: Redactor
  /** Whom the gateway serves: clients at this address, or one that started it. Then only its administration is here. */
  readonly transport: 'http' | 'stdio'
  readonly isReady: () => boolean
  /** What it does without for now. */
  readonly degraded: () => readonly DegradedPart[]
  /** What is wrong with the configuration file as it is now. */
  readonly problems: () => readonly ConfigProblem[]
  /** Whether it is about to end, and takes nobody new. */
  readonly isDraining: () => boolean
  readonly reload: () => Promise<ReloadResult>
}

export interface ListeningGateway {
  /** Where MCP clients of this machine connect. */
  readonly url: string
  readonly handler: Handler
  /** Done when all that was asked has been answered. */
  answered(): Promise<void>
  /** Tells clients that can be told that the gateway is about to end. */
  drain(): void
  /** Ends what belongs to clients that the configuration does not let in any more. */
  dismiss(): Promise<void>
  close(): Promise<void>
}

/** Serves a gateway on an address. Done when it can be reached. */
export async function listenHttp(gateway: Gateway, options: HttpOptions): Promise<ListeningGateway> {
  const { host, port, journal, metrics, isDraining, log } = options
  const { limits, listen: settings } = gateway.config
  const isPublic = !isLoopback(host)
  const callers = new StatelessClients()
  const events = new EventStreams(journal)
  const first = new FirstTools(gateway)
  let listening: Listening | undefined
  const handler = (): Handler | undefined => listening?.handler
  metrics.measure({
    gateway,
    sessions: () => handler()?.sessionCount ?? 0,
    subscriptions: () => handler()?.subscriptionCount ?? 0,
  })
  listening = await listen(gateway.toolbox, {
    host,
    port,
    path: mcpPath,
    subpaths: true,
    allowedHosts: allowedHosts(host, settings.allowedHosts),
    ...(settings.allowedOrigins.length > 0 && { allowedOrigins: [...allowedHosts('localhost', []), ...settings.allowedOrigins] }),
    maxBodyBytes: limits.bodyBytes,
    sessions: { max: limits.sessions },
    maxSubscriptions: limits.subscriptions,
    // Two for each client that may be there, and some for those who only look in.
    maxConnections: 2 * limits.sessions + limits.subscriptions + 256,
    onListen: gateway.proxy.listens,
    servedTo: (client) => gateway.toolboxes.of(client),
    onerror: (error) => log.error({ error }, 'A request could not be answered.'),
    identify(head) {
      if (options.transport === 'stdio') return elsewhere()
      const isSession = head.header('mcp-session-id') !== undefined
      // What belongs to calls that still run must come through: answers to questions, and cancellations.
      if (isDraining() && !(isSession && head.method === 'POST')) return ending()
      const client = authenticate(head, { config: gateway.config, access: gateway.access, isPublic })
      const isStateless = head.header('mcp-method') !== undefined
      if (client instanceof Response) return client
      if (isStateless) callers.record(client, head.header('user-agent'))
      return isSession ? client : (first.of(client)?.then(() => client) ?? client)
    },
    elsewhere: routes({
      ...options,
      gateway,
      isPublic,
      events,
      startedAt: performance.now(),
      url: () => (listening === undefined ? '' : localUrl(listening.url)),
      clients: () => [...(handler()?.sessions().map(sessionStatus) ?? []), ...callers.statuses(), ...(bridges?.statuses() ?? [])],
    }),
  })
  const { handler: served } = listening
  const detach = gateway.proxy.attach(served.notify)
  const release = gateway.toolboxes.onEnd((toolbox) => served.forget(toolbox))
  const bridges = bridgesFor(listening, options, { gateway, ready: gateway.upstreams.ready.then(() => gateway.proxy.read()) })
  const requests = new Requests(listening.server)
  return {
    url: localUrl(listening.url),
    handler: listening.handler,
    answered: () => requests.answered(),
    drain: () => bridges?.drain(),
    dismiss: async () => handler()?.dismiss((client) => client !== undefined && !gateway.access.admits(client)),
    async close() {
      detach()
      release()
      events.close()
      await bridges?.close()
      await listening?.close()
    },
  }
}

function bridgesFor(
  { server }: Listening,
  { bridge, isDraining, log }: HttpOptions,
  { gateway, ready }: { readonly gateway: Gateway; readonly ready: Promise<unknown> },
): Bridges | undefined {
  return bridge === undefined ? undefined : new Bridges(server, { gateway, token: bridge, isDraining, ready, log })
}

function elsewhere(): Response {
  const message = 'This gateway serves the client that started it, and nobody else. Start one for others: unfold serve'
  return Response.json({ jsonrpc: '2.0', error: { code: -32000, message }, id: null }, { status: 404 })
}

function ending(): Response {
  const message = 'The gateway is about to end and takes nobody new. Nothing was done; try again in a moment.'
  return Response.json(
    { jsonrpc: '2.0', error: { code: -32000, message }, id: null },
    { status: 503, headers: { 'retry-after': '5' } },
  )
}
