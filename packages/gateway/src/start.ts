import { createHash } from 'node:crypto'
import { dirname, join, resolve } from 'node:path'
import { fileStore } from '@unfold-mcp/server/stores/file'
import type { ReloadResult } from './admin/api.ts'
import type { Log } from './base/log.ts'
import { ConfigError, problemLine } from './config/problem.ts'
import { type ReadConfig, readConfig } from './config/read.ts'
import { isLoopback, publicWithoutToken } from './config/rules.ts'
import type { Environment } from './config/variables.ts'
import { Gateway, type GatewayOptions } from './gateway/gateway.ts'
import { Instrumentation } from './instrumentation.ts'
import { type CloseOptions, GatewayService } from './gateway-service.ts'
import type { CatalogStore } from './stores/catalog.ts'
import { memoryCatalog } from './stores/memory.ts'
import type { SignIns } from './upstreams/sign-in.ts'

export interface StartOptions {
  /** The configuration file. */
  readonly file: string
  /** What variables in the configuration are filled in from. */
  readonly environment: Environment
  /** The folder for the user's data. */
  readonly home: string
  readonly log: Log
  /** StartQueue every client lazily, or none, in place of what the configuration says: `LAZY_MODE` of the environment. */
  readonly lazy?: boolean | undefined
  /** Who signed in to which server, for those that want to know who asks. */
  readonly signIns?: SignIns
  /** Instead of what the configuration says. */
  readonly host?: string
  readonly port?: number
  /** `false` serves no client over HTTP: whoever started it serves it. Its administration is there all the same. */
  readonly http?: boolean
}

/** A gateway that runs: it follows its configuration file until it is closed. */
export interface RunningGateway extends AsyncDisposable {
  readonly gateway: Gateway
  /** Where MCP clients connect, if over HTTP. */
  readonly url: string | undefined
  /** What is told of the gateway, without the secrets that it knows of. */
  redact(text: string): string
  /** Reads the configuration file now. Done when it is in use, or was refused. */
  reload(): Promise<ReloadResult>
  /** Lets calls that run finish, takes no more, and ends. Called again, it ends at once. */
  close(options?: CloseOptions): Promise<void>
}

// Clients that were waiting for it are served before programs are started whose tools are known.
const firstClientsMs = 200

/** StartQueue a gateway from its configuration file. Throws `ConfigError` for one that cannot be used. */
export async function startGateway(options: StartOptions): Promise<RunningGateway> {
  const file = resolve(options.file)
  const read = await readConfig(file, options.environment)
  const { listen } = read.config
  const { host = listen.host, port = listen.port } = options
  checkPublicHost(file, host, read, options)
  const instrumentation = await Instrumentation.create(options.log, {
    config: read.config,
    environment: options.environment,
    folder: dirname(file),
  })
  const { log } = instrumentation
  for (const problem of read.warnings) log.warn({ problem }, problemLine(problem))
  for (const [upstream, problems] of read.held)
    log.warn({ upstream, problems }, `not started: ${problems.map(problemLine).join('; ')}`)
  const store = await openStore(read, { ...options, log }, (problem) => instrumentation.degraded.note('store', problem))
  let isServing: () => void = () => undefined
  const deferStartsUntil = new Promise<void>((done) => {
    isServing = done
  })
  const { environment, home, signIns } = options
  const gateway = await Gateway.open({
    read,
    folder: dirname(file),
    store,
    ...activationsIn(read, options, file),
    log,
    deferStartsUntil,
    ...(options.lazy !== undefined && { lazy: options.lazy }),
    ...(signIns !== undefined && { signIns: (url) => signIns(url, (secrets) => instrumentation.secrets.renewed(url, secrets)) }),
    ...instrumentation.hooks(() => gateway.config),
  })
  const life = new GatewayService({ gateway, store, instrumentation, file, environment, home })
  try {
    await life.create(read, options.http === false ? undefined : { host, port })
    setTimeout(isServing, firstClientsMs)
  } catch (error) {
    await life.close({ withinMs: 0 })
    throw error
  }
  return {
    gateway,
    url: life.url,
    redact: (text) => instrumentation.secrets.text(text),
    reload: () => life.reload(),
    close: (how) => life.close(how),
    [Symbol.asyncDispose]: () => life.close({ withinMs: 0 }),
  }
}

/** Nobody is let in from outside without a token, whoever asked to listen there. */
function checkPublicHost(file: string, host: string, { config }: ReadConfig, { http }: StartOptions): void {
  if (http === false || isLoopback(host) || config.tokens.length > 0) return
  throw new ConfigError([{ file, line: 1, column: 1, path: `listen.host "${host}"`, message: publicWithoutToken }])
}

/** What survives a restart of what clients activated: nothing, or a small file for each of them, for this configuration alone. */
function activationsIn({ config }: ReadConfig, { home }: StartOptions, file: string): Pick<GatewayOptions, 'activations'> {
  if (config.store.kind === 'memory') return {}
  const folder = createHash('sha256').update(file).digest('hex').slice(0, 16)
  return { activations: fileStore(join(home, 'activations', folder)) }
}

async function openStore(
  { config }: ReadConfig,
  { home, file, log }: StartOptions,
  fails: (problem: string | undefined) => void,
): Promise<CatalogStore> {
  const { store } = config
  if (store.kind === 'memory') return memoryCatalog()
  const path = store.path === undefined ? join(home, 'catalog.db') : resolve(dirname(file), store.path)
  const { sqliteCatalog } = await import('./stores/sqlite.ts')
  return sqliteCatalog(path, { report: (message) => log.warn({}, message), fails })
}
