import { dirname, join, resolve } from 'node:path'
import type { ReloadResult } from './admin/api.ts'
import { auditedTools } from './audited-tools.ts'
import type { Log } from './base/log.ts'
import { ConfigError, problemLine } from './config/problem.ts'
import { type PermittedConfig, type ReadConfig, readConfigText, resolveConfig } from './config/read.ts'
import { isLoopback, publicWithoutToken } from './config/rules.ts'
import type { Config } from './config/schema.ts'
import { hasClientTokens } from './config/tokens.ts'
import type { Environment } from './config/variables.ts'
import type { ConfigEdit } from './consent/edit.ts'
import { EditConsent, type EditDecision } from './consent/edit-consent.ts'
import { ConsentFile } from './consent/record.ts'
import { exposedFiles } from './exposed-files.ts'
import { Gateway } from './gateway/gateway.ts'
import { type CloseOptions, GatewayService } from './gateway-service.ts'
import { Instrumentation } from './instrumentation.ts'
import { openCluster } from './open-cluster.ts'
import { openStores, ownFiles } from './open-stores.ts'
import { passphraseFrom } from './secrets/passphrase.ts'
import { SecretResolver } from './secrets/resolver.ts'
import type { Passphrase } from './secrets/store.ts'
import type { SignIns, StartSignIn } from './upstreams/sign-in.ts'

export interface StartOptions {
  /** Path of the configuration file. */
  readonly file: string
  /** Environment variables for `${NAME}` in the configuration. */
  readonly environment: Environment
  /** Folder for the user's data. */
  readonly home: string
  readonly log: Log
  /** Overrides lazy mode for all clients (`LAZY_MODE`). */
  readonly lazy?: boolean | undefined
  /** Looks up the sign-in for a server that requires authentication. */
  readonly signIns?: SignIns
  /** Signs the user in to a server from the dashboard; without it, the dashboard shows the command. */
  readonly startSignIn?: StartSignIn
  /** Asks for the passphrase of the stored secrets, if nothing in the environment provides it. */
  readonly passphrase?: Passphrase
  /**
   * Decides about edits of the file since it was last used, before anything starts. Default: they wait. The first time that a file
   * is used, all of it counts as approved.
   */
  readonly decideAtStart?: (edits: readonly ConfigEdit[]) => Promise<EditDecision>
  /** Called with edits that wait for a person while the gateway runs; `RunningGateway.decideEdits` decides about them. */
  readonly onEdits?: (edits: readonly ConfigEdit[]) => void
  /** Overrides `listen.host` of the configuration. */
  readonly host?: string
  /** Overrides `listen.port` of the configuration. */
  readonly port?: number
  /** `false` serves only the admin API over HTTP, because the caller serves the client. */
  readonly http?: boolean
}

/** A running gateway. It watches its configuration file until it is closed. */
export interface RunningGateway extends AsyncDisposable {
  readonly gateway: Gateway
  /** The MCP endpoint, if clients connect over HTTP. */
  readonly url: string | undefined
  /** Creates a link that signs a browser in to the dashboard, once, within ten minutes; `undefined` without HTTP. */
  signInLink(): URL | undefined
  /** Removes the secrets that the gateway knows from a text. */
  redact(text: string): string
  /** Reads the configuration file now and approves its edits: the caller has the user's consent. Resolves when it was applied or rejected. */
  reload(): Promise<ReloadResult>
  /** Edits of the configuration file that wait for a person. */
  readonly edits: readonly ConfigEdit[]
  /** Decides about edits by digest. `by`: who decided, for the audit log. */
  decideEdits(decision: EditDecision, by: string): Promise<readonly ConfigEdit[]>
  /** Stops accepting calls, waits for running ones, and shuts down. A second call shuts down immediately. */
  close(options?: CloseOptions): Promise<void>
}

// Serves waiting clients before starting servers whose tools are cached.
const deferStartsMs = 200

/** Starts a gateway from its configuration file. Throws `ConfigError` if the file is invalid. */
export async function startGateway(options: StartOptions): Promise<RunningGateway> {
  const file = resolve(options.file)
  const { environment, home, signIns } = options
  const resolver = new SecretResolver({
    folder: dirname(file),
    home,
    environment,
    passphrase: passphraseFrom({ environment, prompt: options.passphrase }),
  })
  let onConsentStatus: (problem: string | undefined) => void = (problem) => {
    consentProblem = problem
  }
  let consentProblem: string | undefined
  const consent = new EditConsent({ file: new ConsentFile(home, file), onStatus: (problem) => onConsentStatus(problem) })
  const permit = (written: Config): Promise<PermittedConfig> => permitAtStart(consent, written, options.decideAtStart)
  const read = await resolveConfig(await readConfigText(file), { file, environment, resolver, permit })
  const { listen } = read.config
  const { host = listen.host, port = listen.port } = options
  checkPublicHost(file, host, read, options)
  const instrumentation = await Instrumentation.create(options.log, {
    read,
    environment,
    folder: dirname(file),
  })
  const { log } = instrumentation
  onConsentStatus = (problem) => instrumentation.degraded.update('consent', problem)
  onConsentStatus(consentProblem)
  for (const problem of read.warnings) log.warn({ problem }, problemLine(problem))
  for (const [upstream, problems] of read.notStarted)
    log.warn({ upstream, problems }, `not started: ${problems.map(problemLine).join('; ')}`)
  for (const { upstream, message } of await exposedFiles(read.config, { file, home: options.home }))
    log.warn({ upstream }, message)
  const places = { file, home: options.home }
  const { degraded } = instrumentation
  const cluster = await openCluster(read, {
    ...places,
    log,
    onStatus: (problem) => degraded.update('cluster', problem),
    onLost: (problem) => {
      degraded.update('trust', problem)
      degraded.update('approvals', problem)
    },
  })
  const stores = await openStores(
    read,
    { ...places, log },
    {
      shared: cluster?.shared,
      replica: cluster?.replica,
      onStale: (key) => gateway.listAgain(key),
      onStatus: (part, problem) => degraded.update(part, problem),
    },
  )
  const { store, trust, approvals } = stores
  let startDeferred: () => void = () => undefined
  const deferStartsUntil = new Promise<void>((done) => {
    startDeferred = done
  })
  const gateway: Gateway = await Gateway.open({
    read,
    folder: dirname(file),
    sandboxBase: { hide: ownFiles(read, places), installs: join(options.home, 'sandbox') },
    store,
    trust,
    approvals,
    ...(stores.activations !== undefined && { activations: stores.activations }),
    ...(stores.results !== undefined && { results: stores.results }),
    ...(stores.scripts !== undefined && { scripts: stores.scripts }),
    ...(cluster !== undefined && { replica: cluster.replica }),
    log,
    deferStartsUntil,
    ...(cluster?.shared !== undefined && { placement: cluster.shared.placement.placement, reads: cluster.shared.reads }),
    ...(options.lazy !== undefined && { lazy: options.lazy }),
    ...(signIns !== undefined && {
      signIns: (url) => signIns(url, (secrets) => instrumentation.redactor.addRenewed(url, secrets)),
    }),
    ...instrumentation.hooks(() => gateway.config, stores.buckets),
  })
  instrumentation.audit?.follow(auditedTools(gateway))
  cluster?.shared?.placement.serve(gateway.upstreams, {
    isServed: (server, tool) => gateway.source.isServed(server, tool),
    maxBodyBytes: () => gateway.config.limits.bodyBytes,
  })
  const service = new GatewayService({
    gateway,
    store,
    trust,
    approvals,
    scripts: stores.scripts,
    cluster,
    instrumentation,
    file,
    environment,
    home,
    resolver,
    consent,
    onEdits: options.onEdits,
    startSignIn: options.startSignIn,
  })
  try {
    await service.start(read, options.http === false ? undefined : { host, port })
    setTimeout(startDeferred, deferStartsMs)
  } catch (error) {
    await service.close({ withinMs: 0 })
    throw error
  }
  return {
    gateway,
    url: service.url,
    signInLink: () => service.signInLink(),
    redact: (text) => instrumentation.redactor.text(text),
    reload: () => service.reload({ isApproved: true }),
    get edits() {
      return consent.edits
    },
    decideEdits: (decision, by) => service.decideEdits(decision, by),
    close: (closeOptions) => service.close(closeOptions),
    [Symbol.asyncDispose]: () => service.close({ withinMs: 0 }),
  }
}

async function permitAtStart(
  consent: EditConsent,
  written: Config,
  decide: StartOptions['decideAtStart'],
): Promise<PermittedConfig> {
  const permitted = await consent.permit(written)
  if (decide === undefined || consent.edits.length === 0) return permitted
  const decided = await consent.decide(await decide(consent.edits))
  // The user has seen them.
  consent.unreported()
  return decided.length === 0 ? permitted : consent.permit(written)
}

// Also applies to a host from the command line.
function checkPublicHost(file: string, host: string, { config }: ReadConfig, { http }: StartOptions): void {
  if (http === false || isLoopback(host) || hasClientTokens(config.tokens)) return
  throw new ConfigError([{ file, line: 1, column: 1, path: `listen.host "${host}"`, message: publicWithoutToken }])
}
