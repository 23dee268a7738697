import { dirname, resolve } from 'node:path'
import {
  type Handler,
  type ListeningServer,
  listen,
  type RequestHead,
  type SessionStore,
  slowClientMessage,
} from '@unfold-mcp/server'
import { allowedHosts } from '../access/allowed-hosts.ts'
import { authenticate } from '../access/authenticate.ts'
import { clientShare } from '../access/caller-path.ts'
import { StatelessClients, sessionStatus } from '../access/clients.ts'
import { RejectedTokens } from '../access/rejected-tokens.ts'
import type { ReloadResult } from '../admin/api.ts'
import { AuditTrail } from '../admin/audit/audit-trail.ts'
import { Authorization } from '../admin/authorization.ts'
import { AdminCalls } from '../admin/calls.ts'
import type { EditReview } from '../admin/edits.ts'
import { EventStreams } from '../admin/event-stream.ts'
import type { PageSessions } from '../admin/pages/sessions.ts'
import { SettingsEditor } from '../admin/servers/settings.ts'
import { ServerSignIns, type StartSignIn } from '../admin/servers/sign-in.ts'
import type { AuditPosition } from '../audit/audit-file.ts'
import type { Log } from '../base/log.ts'
import { mcpPath } from '../base/mcp-path.ts'
import type { ClusterStatus } from '../cluster/status.ts'
import { localUrl } from '../config/address.ts'
import type { ConfigProblem } from '../config/problem.ts'
import { isLoopback } from '../config/rules.ts'
import type { Environment } from '../config/variables.ts'
import type { Gateway } from '../gateway/gateway.ts'
import type { DegradedPart } from '../observability/degraded-parts.ts'
import type { Journal } from '../observability/journal.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { Redactor } from '../observability/redactor.ts'
import { ActiveRequests } from './active-requests.ts'
import { Bridges, type BridgesOptions } from './bridges.ts'
import { type ForwardRoute, routes } from './routes.ts'
import { StartupWait } from './startup-wait.ts'

export interface HttpOptions {
  readonly host: string
  readonly port: number
  /** Admin token. */
  readonly admin: string
  /** Token for stdio clients of the same user; absent where no clients are served. */
  readonly bridge: string | undefined
  /** Path of the configuration file. */
  readonly config: string
  readonly log: Log
  readonly journal: Journal
  readonly metrics: Metrics
  readonly redactor: Redactor
  /** `stdio`: the gateway serves only the client that started it, and only the admin API is served here. */
  readonly transport: 'http' | 'stdio'
  readonly isReady: () => boolean
  readonly degraded: () => readonly DegradedPart[]
  /** The last record of the audit log. */
  readonly audit: () => AuditPosition | undefined
  readonly cluster: () => ClusterStatus | undefined
  /** Problems of the configuration file as it is now. */
  readonly problems: () => readonly ConfigProblem[]
  /** True once the gateway shuts down; it may still serve requests. */
  readonly isClosing: () => boolean
  /** True while the gateway refuses requests. */
  readonly isDraining: () => boolean
  readonly reload: () => Promise<ReloadResult>
  readonly edits: EditReview
  /** For variables in an edited configuration. */
  readonly environment: Environment
  /** Browsers that are signed in. */
  readonly pages: PageSessions
  readonly startSignIn?: StartSignIn | undefined
  /** Sessions that all replicas share. */
  readonly sessions: SessionStore | undefined
  /** Handles requests from other replicas. */
  readonly forward?: ForwardRoute | undefined
  /** Host name at which other replicas reach this one. */
  readonly advertisedHost?: string | undefined
}

export interface ListeningGateway {
  /** The MCP endpoint for clients of this machine. */
  readonly url: string
  /** The MCP endpoint at the address that it is bound to. */
  readonly boundUrl: string
  readonly handler: Handler
  /** Resolves when no request is pending. */
  idle(): Promise<void>
  /** Announces the shutdown to stdio clients, and ends the streams of clients that other replicas serve. */
  drain(): void
  /** Accepts no more connections; running requests go on. */
  stopListening(): void
  /** Ends the sessions of clients that are no longer admitted. */
  dismiss(): Promise<void>
  close(): Promise<void>
}

/** Serves a gateway over HTTP. Resolves when it is listening. */
export async function listenHttp(gateway: Gateway, options: HttpOptions): Promise<ListeningGateway> {
  const { host, port, journal, metrics, isClosing, isDraining, log } = options
  const { limits, listen: settings } = gateway.config
  const isPublic = !isLoopback(host)
  const statelessClients = new StatelessClients()
  const events = new EventStreams(journal)
  const rejected = new RejectedTokens({ log, onRefused: metrics.tokenRejected })
  const authorization = new Authorization({ admin: options.admin, config: () => gateway.config, rejected, pages: options.pages })
  const calls = new AdminCalls(gateway)
  const settingsEditor = new SettingsEditor(options.config, options.environment)
  const signIns = options.startSignIn && new ServerSignIns(gateway, journal, options.startSignIn)
  const trail = new AuditTrail({ path: () => auditPath(gateway, options.config), live: options.audit })
  const startupWait = new StartupWait(gateway)
  let listening: ListeningServer | undefined
  let isHandedOver = false
  const handler = (): Handler | undefined => listening?.handler
  metrics.registerGauges({
    gateway,
    sessions: () => handler()?.sessionCount ?? 0,
    subscriptions: () => handler()?.subscriptionCount ?? 0,
    waitingEdits: () => options.edits.list().filter(({ isRejected }) => !isRejected).length,
  })
  listening = await listen(gateway.toolbox, {
    // Tracking handlers would cost time in every call, and the command reports rejections itself.
    reportRejections: false,
    host,
    port,
    path: mcpPath,
    subpaths: true,
    allowedHosts: allowedHosts(host, [
      ...settings.allowedHosts,
      ...(options.advertisedHost === undefined ? [] : [options.advertisedHost]),
    ]),
    ...(settings.allowedOrigins.length > 0 && { allowedOrigins: [...allowedHosts('localhost', []), ...settings.allowedOrigins] }),
    maxBodyBytes: limits.bodyBytes,
    sessions: { max: limits.sessions, ...(options.sessions !== undefined && { store: options.sessions }) },
    maxSubscriptions: limits.subscriptions,
    trustedProxies: settings.trustedProxies,
    shareKey: clientShare,
    // Two per client, and some for short requests.
    maxConnections: 2 * limits.sessions + limits.subscriptions + 256,
    stallTimeoutMs: limits.stallTimeoutMs,
    maxUnsentBytes: limits.unsentBytes,
    onSlowClient: (client) => {
      metrics.slowClient(client.reason)
      log.warn(client, slowClientMessage(client))
    },
    onListen: gateway.proxy.onListen,
    servedTo: (client) => gateway.toolboxes.of(client),
    onerror: (error) => log.error({ error }, 'request failed'),
    identify(head) {
      if (options.transport === 'stdio') return stdioOnly()
      const isSession = head.header('mcp-session-id') !== undefined
      // Sessions still need to answer elicitations of running calls, and to cancel them.
      if (isDraining() && !(isSession && head.method === 'POST')) return shuttingDown()
      // Its streams have been handed over.
      if (isHandedOver && isStream(head)) return shuttingDown()
      const client = authenticate(head, { config: gateway.config, access: gateway.access, isPublic, rejected })
      const isStateless = head.header('mcp-method') !== undefined
      if (client instanceof Response) return client
      if (isStateless) statelessClients.record(client, head.header('user-agent'))
      return isSession ? client : (startupWait.for(client)?.then(() => client) ?? client)
    },
    fallback: routes({
      ...options,
      hasDashboard: settings.dashboard,
      gateway,
      isPublic,
      authorization,
      events,
      calls,
      settings: settingsEditor,
      signIns,
      trail,
      startedAt: performance.now(),
      url: () => (listening === undefined ? '' : localUrl(listening.url)),
      clients: () => [
        ...(handler()?.sessions().map(sessionStatus) ?? []),
        ...statelessClients.statuses(),
        ...(bridges?.statuses() ?? []),
      ],
    }),
  })
  const { handler: served } = listening
  const detach = gateway.proxy.attach(served.notify)
  const unsubscribe = gateway.toolboxes.onClose((toolbox) => served.remove(toolbox))
  const bridges = bridgesFor(
    listening,
    { ...options, isDraining: () => isDraining() || isHandedOver },
    {
      gateway,
      rejected,
      ready: gateway.upstreams.ready.then(() => gateway.proxy.documentsRead()),
    },
  )
  const requests = new ActiveRequests(listening.server)
  // Load balancers and clients must not send the next request on a connection that ends soon.
  listening.server.prependListener('request', (_, response) => {
    if (isClosing()) response.shouldKeepAlive = false
  })
  return {
    url: localUrl(listening.url),
    boundUrl: listening.url,
    handler: listening.handler,
    idle: () => requests.idle(),
    drain() {
      bridges?.drain()
      if (options.cluster() === undefined) return
      isHandedOver = true
      void served.handOver()
    },
    stopListening() {
      listening?.server.close()
      listening?.server.closeIdleConnections()
    },
    dismiss: async () => {
      events.dismiss()
      await handler()?.disconnect((client) => client !== undefined && !gateway.access.admits(client))
    },
    async close() {
      detach()
      unsubscribe()
      events.close()
      await calls.close()
      await bridges?.close()
      await listening?.close()
    },
  }
}

function bridgesFor(
  { server }: ListeningServer,
  { bridge, isDraining, log }: HttpOptions,
  more: Pick<BridgesOptions, 'gateway' | 'rejected' | 'ready'>,
): Bridges | undefined {
  return bridge === undefined ? undefined : new Bridges(server, { ...more, token: bridge, isDraining, log })
}

/** Relative paths are relative to the configuration file. */
function auditPath({ config: { audit } }: Gateway, file: string): string | undefined {
  return audit === undefined ? undefined : resolve(dirname(file), audit.path)
}

const isStream = (head: RequestHead): boolean => head.method === 'GET' || head.header('mcp-method') === 'subscriptions/listen'

function stdioOnly(): Response {
  const message = 'This gateway only serves the client that started it over stdio. Start another one with: unfold serve'
  return Response.json({ jsonrpc: '2.0', error: { code: -32000, message }, id: null }, { status: 404 })
}

function shuttingDown(): Response {
  const message = 'The gateway is shutting down. Try again in a moment.'
  return Response.json(
    { jsonrpc: '2.0', error: { code: -32000, message }, id: null },
    { status: 503, headers: { 'retry-after': '5' } },
  )
}
