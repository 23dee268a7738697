import { printable } from '@unfold-mcp/core'
import { createAdminToken, createBridgeToken } from './access/admin-token.ts'
import type { ReloadResult } from './admin/api.ts'
import type { EditReview } from './admin/edits.ts'
import { PageSessionFile } from './admin/pages/session-file.ts'
import { PageSessions } from './admin/pages/sessions.ts'
import type { ApprovalStore } from './approvals/store.ts'
import { errorMessage } from './base/error-message.ts'
import type { Log } from './base/log.ts'
import { type ConfigProblem, problemLine } from './config/problem.ts'
import type { ReadConfig } from './config/read.ts'
import { restartRequired } from './config/restart.ts'
import type { Environment } from './config/variables.ts'
import { ConfigWatch } from './config/watch.ts'
import type { ConfigEdit } from './consent/edit.ts'
import type { EditConsent, EditDecision } from './consent/edit-consent.ts'
import { defaultDrainMs, settledWithin } from './drain.ts'
import { exposedFiles } from './exposed-files.ts'
import type { Gateway } from './gateway/gateway.ts'
import { type ListeningGateway, listenHttp } from './http/listen.ts'
import type { Instrumentation } from './instrumentation.ts'
import type { Cluster } from './open-cluster.ts'
import { writeRunFile } from './run-file.ts'
import type { ScriptStorage } from './scripts/storage.ts'
import type { SecretResolver } from './secrets/resolver.ts'
import type { CatalogStore } from './stores/catalog.ts'
import type { TrustStore } from './trust/records/store.ts'
import type { StartSignIn } from './upstreams/sign-in.ts'
import type { Applied } from './upstreams/upstreams.ts'

export interface CloseOptions {
  /** How long to wait for running calls to finish; default: 10 seconds. */
  readonly withinMs?: number
  /** In a cluster, serves for `cluster.drainMs` first, while load balancers notice that the gateway is not ready. */
  readonly announce?: boolean
}

const finalRepliesMs = 500

export interface GatewayServiceOptions {
  readonly gateway: Gateway
  readonly store: CatalogStore
  readonly trust: TrustStore | 'unavailable'
  readonly approvals: ApprovalStore | 'unavailable'
  readonly scripts: ScriptStorage | undefined
  readonly instrumentation: Instrumentation
  readonly file: string
  readonly environment: Environment
  readonly home: string
  readonly resolver?: SecretResolver
  /** Decides which edits of the file apply. */
  readonly consent: EditConsent
  readonly cluster?: Cluster | undefined
  /** Called with edits that start to wait for a person. */
  readonly onEdits?: ((edits: readonly ConfigEdit[]) => void) | undefined
  readonly startSignIn?: StartSignIn | undefined
}

export interface ListenAddress {
  readonly host: string
  readonly port: number
}

/** Runs a gateway: HTTP listener, run file and configuration watcher, from start to shutdown. */
export class GatewayService {
  readonly #options: GatewayServiceOptions
  readonly #log: Log
  readonly #pages: PageSessions
  readonly #stopNow = new AbortController()
  #watch: ConfigWatch | undefined
  #listening: ListeningGateway | undefined
  #removeRunFile: (() => Promise<void>) | undefined
  #pendingApply: Promise<boolean> = Promise.resolve(true)
  #url: string | undefined
  #isReady = false
  #closing: Promise<void> | undefined
  #isRefusing = false

  constructor(options: GatewayServiceOptions) {
    this.#options = options
    const { home, file } = options
    const { log } = options.instrumentation
    this.#log = log
    const onProblem = (error: unknown): void =>
      log.warn({ error }, `Browsers must sign in to the dashboard again after a restart: ${errorMessage(error)}`)
    this.#pages = new PageSessions(Date.now, new PageSessionFile(home, { config: file, onProblem }))
  }

  /** The MCP endpoint, if clients connect over HTTP. */
  get url(): string | undefined {
    return this.#url
  }

  /** A link that signs a browser in to the dashboard, once. */
  signInLink(): URL | undefined {
    if (this.#url === undefined || !this.#options.gateway.config.listen.dashboard) return undefined
    return new URL(`/ui/?code=${this.#pages.createLink().code}`, this.#url)
  }

  /** Starts listening and watching the file. Without an address, only the admin API is served. */
  async start(read: ReadConfig, address: ListenAddress | undefined): Promise<void> {
    const { file, environment, resolver, consent } = this.#options
    void this.#waitUntilReady()
    if (address !== undefined) this.#url = await this.#listen(address, 'http')
    // The stdio client can be served without the admin API.
    else await this.#listen({ host: '127.0.0.1', port: 0 }, 'stdio').catch((error: unknown) => this.#warnHidden(error))
    this.#watch = new ConfigWatch(file, read, {
      environment,
      resolver,
      permit: async (written) => {
        const permitted = await consent.permit(written)
        this.#reportEdits(consent.unreported())
        return permitted
      },
      changed: (changed) => {
        this.#pendingApply = this.#pendingApply.then(() => this.#apply(changed))
      },
      invalid: (problems) => this.#rejected(problems),
      restored: () => this.#restored(),
    })
  }

  /** Reads the file and its secrets again. Edits that need consent wait, unless the caller has it. */
  async reload({ isApproved = false } = {}): Promise<ReloadResult> {
    await this.#watch?.reload({ isRefreshed: true })
    if (isApproved) await this.decideEdits({ approve: this.#options.consent.edits.map(({ digest }) => digest) }, 'reload')
    const isApplied = await this.#pendingApply
    const problems = this.#watch?.problems ?? []
    return { isApplied: isApplied && problems.length === 0, problems }
  }

  /** Decides about edits and applies those that are approved. `by`: who decided. Returns the edits that the decision applies to. */
  async decideEdits(decision: EditDecision, by: string): Promise<readonly ConfigEdit[]> {
    const { consent, instrumentation } = this.#options
    const decided = await consent.decide(decision)
    for (const { path, digest, isRejected } of decided) {
      const outcome = isRejected ? 'rejected' : 'approved'
      this.#log.info({ path, by }, `edit of ${path} ${outcome} (${by})`)
      void instrumentation.audit?.event({ type: 'approval', outcome, client: by, edit: path, digest })
    }
    if (decided.length > 0) await this.#watch?.reload({ isForced: true })
    await this.#pendingApply
    return decided
  }

  /** Shuts down after running calls have finished or the time is up. A second call shuts down immediately. */
  close({ withinMs = defaultDrainMs, announce = false }: CloseOptions = {}): Promise<void> {
    if (this.#closing !== undefined) this.#stopNow.abort()
    this.#closing ??= this.#close(withinMs, announce ? this.#options.cluster?.drainMs : undefined)
    return this.#closing
  }

  async #listen({ host, port }: ListenAddress, transport: 'http' | 'stdio'): Promise<string> {
    const { gateway, instrumentation, file, environment, home, cluster } = this.#options
    const admin = createAdminToken()
    const { log, journal, metrics, redactor, degraded } = instrumentation
    const bridge = transport === 'http' ? createBridgeToken() : undefined
    redactor.add([admin, ...(bridge === undefined ? [] : [bridge])])
    if (gateway.config.listen.dashboard) await this.#pages.restore()
    this.#listening = await listenHttp(gateway, {
      host,
      port,
      admin,
      bridge,
      config: file,
      log,
      journal,
      metrics,
      redactor,
      transport,
      degraded: () => degraded.list(),
      audit: () => instrumentation.audit?.position,
      problems: () => this.#watch?.problems ?? [],
      isReady: () => this.#isReady && this.#closing === undefined,
      isClosing: () => this.#closing !== undefined,
      isDraining: () => this.#isRefusing,
      reload: () => this.reload(),
      edits: this.#editReview(),
      environment,
      pages: this.#pages,
      startSignIn: this.#options.startSignIn,
      cluster: () => cluster?.status(),
      sessions: cluster?.shared?.sessions,
      forward: cluster?.shared?.placement,
      advertisedHost: gateway.config.cluster?.advertise && new URL(gateway.config.cluster.advertise).hostname,
    })
    const { url, boundUrl } = this.#listening
    await cluster?.listening(boundUrl)
    try {
      this.#removeRunFile = await writeRunFile(home, {
        pid: process.pid,
        url,
        admin,
        ...(bridge !== undefined && { bridge }),
        config: file,
        transport,
        startedAt: new Date().toISOString(),
      })
    } catch (error) {
      this.#warnHidden(error)
    }
    if (transport === 'http') log.info({ url }, `listening on ${url}`)
    return url
  }

  #warnHidden(error: unknown): void {
    this.#log.warn({ error }, `Commands such as "unfold status" cannot find this gateway: ${errorMessage(error)}`)
  }

  async #waitUntilReady(): Promise<void> {
    await this.#options.gateway.upstreams.ready
    this.#isReady = true
  }

  async #apply(next: ReadConfig): Promise<boolean> {
    const { gateway, instrumentation } = this.#options
    const log = this.#log
    instrumentation.hide(next)
    const before = gateway.config
    const needRestart = restartRequired(before, next.config)
    try {
      const applied = await gateway.apply(next)
      await this.#listening?.dismiss()
      instrumentation.audit?.configApplied(before, next.config)
      instrumentation.journal.write('config', { isApplied: true })
      log.info({ applied }, `configuration reloaded${summarize(applied)}`)
      // Servers that wait for approval were logged as edits.
      const waiting = new Set(this.#options.consent.edits.map(({ server }) => server))
      for (const [upstream, problems] of next.notStarted)
        if (!waiting.has(printable(upstream)))
          log.warn({ upstream, problems }, `not started: ${problems.map(problemLine).join('; ')}`)
      const started = new Set([...applied.added, ...applied.replaced])
      for (const { upstream, message } of await exposedFiles(next.config, this.#options))
        if (started.has(upstream)) log.warn({ upstream }, message)
      if (needRestart.length > 0) log.warn({ needRestart }, `Restart the gateway to apply: ${needRestart.join(', ')}`)
      return true
    } catch (error) {
      instrumentation.audit?.configRejected('failed')
      instrumentation.journal.write('config', { isApplied: false })
      log.error({ error }, 'The new configuration could not be applied.')
      return false
    }
  }

  #editReview(): EditReview {
    return { list: () => this.#options.consent.edits, decide: (decision, by) => this.decideEdits(decision, by) }
  }

  #reportEdits(edits: readonly ConfigEdit[]): void {
    if (edits.length === 0) return
    const { instrumentation, file, onEdits } = this.#options
    const paths = edits.map(({ path, isNew }) => (isNew ? `${path} (new)` : path))
    instrumentation.journal.write('config', { isApplied: true, waiting: paths })
    for (const { path, digest } of edits)
      void instrumentation.audit?.event({ type: 'config', outcome: 'waiting', edit: path, digest })
    this.#log.warn(
      { event: 'config_edit', paths },
      `${file} was edited; waiting for approval: ${paths.join(', ')}. Review: unfold review`,
    )
    onEdits?.(edits)
  }

  #restored(): void {
    this.#options.instrumentation.journal.write('config', { isApplied: true })
    this.#log.info({}, 'The configuration is valid again and unchanged.')
  }

  #rejected(problems: readonly ConfigProblem[]): void {
    this.#options.instrumentation.audit?.configRejected('invalid')
    this.#options.instrumentation.journal.write('config', { isApplied: false })
    const details = problems.map(problemLine).join('; ')
    this.#log.error({ problems }, `${this.#options.file} is invalid; the last valid configuration stays in use. ${details}`)
  }

  /** With `announceMs`, nothing is refused before the listener closes: load balancers send requests elsewhere by then. */
  async #close(withinMs: number, announceMs: number | undefined): Promise<void> {
    const { gateway, store, trust, approvals, scripts, instrumentation, cluster } = this.#options
    instrumentation.journal.write('drain', { withinMs: withinMs + (announceMs ?? 0) })
    if (announceMs === undefined) this.#refuse()
    else await settledWithin(never, announceMs, this.#stopNow.signal)
    gateway.approvals.close()
    this.#listening?.drain()
    cluster?.shared?.placement.drain()
    this.#watch?.close()
    const drained = (): Promise<unknown> => Promise.all([instrumentation.gate.idle(), this.#listening?.idle()])
    await settledWithin(drained(), withinMs, this.#stopNow.signal)
    if (announceMs !== undefined) {
      this.#listening?.stopListening()
      // Requests that arrived before.
      await settledWithin(drained(), finalRepliesMs, this.#stopNow.signal)
      this.#refuse()
    }
    if (instrumentation.gate.running > 0)
      this.#log.warn({ calls: instrumentation.gate.running }, 'Cancelling calls that are still running.')
    await this.#removeRunFile?.().catch(() => undefined)
    // Running calls fail before the listener closes, so their clients still get an error.
    await gateway.upstreams.close()
    await settledWithin(drained(), finalRepliesMs, new AbortController().signal)
    await this.#listening?.close()
    await gateway.close()
    await this.#pendingApply
    await this.#pages.settled()
    await store.close()
    for (const decisions of [trust, approvals]) if (decisions !== 'unavailable') await decisions[Symbol.asyncDispose]()
    await scripts?.[Symbol.asyncDispose]()
    await cluster?.[Symbol.asyncDispose]()
    await instrumentation.close()
  }

  #refuse(): void {
    this.#isRefusing = true
    this.#options.instrumentation.gate.close()
  }
}

const never = new Promise<never>(() => undefined)

const labels = { added: 'added', removed: 'removed', replaced: 'restarted' } as const

function summarize(applied: Applied): string {
  const changes = (['added', 'removed', 'replaced'] as const).filter((change) => applied[change].length > 0)
  const parts = changes.map((change) => `${labels[change]} ${applied[change].map((name) => printable(name)).join(', ')}`)
  return parts.length === 0 ? '' : `: ${parts.join('; ')}`
}
