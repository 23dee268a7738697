import { dirname, join, resolve } from 'node:path'
import { ConfigError, type ConfigProblem, problemLine } from './config/problem.ts'
import { type ReadConfig, readConfig } from './config/read.ts'
import { waitingForRestart } from './config/restart.ts'
import { isLoopback, openDoor } from './config/rules.ts'
import type { Environment } from './config/variables.ts'
import { ConfigWatch } from './config/watch.ts'
import { defaultDrainMs, waitedFor } from './drain.ts'
import { Gateway } from './gateway.ts'
import { createAdminToken } from './http/admin.ts'
import type { Reloaded } from './http/api.ts'
import { type ListeningGateway, listenHttp } from './http/listen.ts'
import type { Log } from './log.ts'
import { Observation } from './observing/observation.ts'
import { writeRunFile } from './run-file.ts'
import type { CatalogStore } from './stores/catalog.ts'
import { memoryCatalog } from './stores/memory.ts'
import { sqliteCatalog } from './stores/sqlite.ts'

export interface StartOptions {
  /** The configuration file. */
  readonly file: string
  /** What variables in the configuration are filled in from. */
  readonly environment: Environment
  /** The folder for the user's data. */
  readonly home: string
  readonly log: Log
  /** Instead of what the configuration says. */
  readonly host?: string
  readonly port?: number
  /** `false` serves nothing over HTTP: whoever started it serves it. */
  readonly http?: boolean
}

const lastWordsMs = 500

export interface CloseOptions {
  /** How long calls that run may take to finish; 10 seconds by default. */
  readonly withinMs?: number
}

/** A gateway that runs: it follows its configuration file until it is closed. */
export interface RunningGateway extends AsyncDisposable {
  readonly gateway: Gateway
  /** Where MCP clients connect, if over HTTP. */
  readonly url: string | undefined
  /** Reads the configuration file now. Done when it is in use, or was refused. */
  reload(): Promise<Reloaded>
  /** Lets calls that run finish, takes no more, and ends. Called again, it ends at once. */
  close(options?: CloseOptions): Promise<void>
}

/** Starts a gateway from its configuration file. Throws `ConfigError` for one that cannot be used. */
export async function startGateway(options: StartOptions): Promise<RunningGateway> {
  const file = resolve(options.file)
  const read = await readConfig(file, options.environment)
  const { host, port } = { ...read.config.listen, ...pick(options) }
  checkDoor(file, host, read, options)
  const seen = await Observation.begin(options.log, { config: read.config, environment: options.environment })
  const { log } = seen
  for (const problem of read.warnings) log.warn({ problem }, problemLine(problem))
  for (const [upstream, problems] of read.held) log.warn({ upstream, problems }, `waits: ${problems.map(problemLine).join('; ')}`)
  const store = await openStore(read, { ...options, log })
  const gateway = await Gateway.open({ read, folder: dirname(file), store, log, ...seen.hooks(() => gateway.config) })
  const life = new Life({ gateway, store, seen, file, options })
  try {
    await life.begin({ host, port, read })
  } catch (error) {
    await life.close({ withinMs: 0 })
    throw error
  }
  return {
    gateway,
    url: life.url,
    reload: () => life.reload(),
    close: (how) => life.close(how),
    [Symbol.asyncDispose]: () => life.close({ withinMs: 0 }),
  }
}

interface LifeOptions {
  readonly gateway: Gateway
  readonly store: CatalogStore
  readonly seen: Observation
  readonly file: string
  readonly options: StartOptions
}

/** All that is started beside a gateway, from its beginning to its end. */
class Life {
  readonly #options: LifeOptions
  readonly #log: Log
  readonly #hurry = new AbortController()
  #watch: ConfigWatch | undefined
  #listening: ListeningGateway | undefined
  #takeBack: (() => Promise<void>) | undefined
  #applying: Promise<boolean> = Promise.resolve(true)
  #isReady = false
  #closing: Promise<void> | undefined

  constructor(options: LifeOptions) {
    this.#options = options
    this.#log = options.seen.log
  }

  get url(): string | undefined {
    return this.#listening?.url
  }

  async begin({ host, port, read }: { readonly host: string; readonly port: number; readonly read: ReadConfig }): Promise<void> {
    const { file, options } = this.#options
    void this.#untilReady()
    if (options.http !== false) await this.#listen(host, port)
    this.#watch = new ConfigWatch(file, read, {
      environment: options.environment,
      changed: (next) => {
        this.#applying = this.#applyAfter(this.#applying, next)
      },
      invalid: (problems) => this.#refused(problems),
    })
  }

  async reload(): Promise<Reloaded> {
    const { file, options } = this.#options
    await this.#watch?.reload()
    const isApplied = await this.#applying
    const problems = await readConfig(file, options.environment).then(
      () => [],
      (error: unknown) => problemsOf(file, error),
    )
    return { isUsed: isApplied && problems.length === 0, problems }
  }

  close({ withinMs = defaultDrainMs }: CloseOptions = {}): Promise<void> {
    if (this.#closing !== undefined) this.#hurry.abort()
    this.#closing ??= this.#close(withinMs)
    return this.#closing
  }

  async #listen(host: string, port: number): Promise<void> {
    const { gateway, seen, file, options } = this.#options
    const admin = createAdminToken()
    seen.secrets.add([admin])
    this.#listening = await listenHttp(gateway, {
      host,
      port,
      admin,
      config: file,
      ...seen,
      isReady: () => this.#isReady && this.#closing === undefined,
      isDraining: () => this.#closing !== undefined,
      reload: () => this.reload(),
    })
    const { url } = this.#listening
    try {
      this.#takeBack = await writeRunFile(options.home, {
        pid: process.pid,
        url,
        admin,
        config: file,
        startedAt: new Date().toISOString(),
      })
    } catch (error) {
      this.#log.warn({ error }, `Commands such as "unfold status" will not find this gateway: ${wordsOf(error)}`)
    }
    this.#log.info({ url }, `MCP clients connect to ${url}`)
  }

  async #untilReady(): Promise<void> {
    await this.#options.gateway.upstreams.ready
    this.#isReady = true
  }

  async #applyAfter(before: Promise<unknown>, next: ReadConfig): Promise<boolean> {
    await before
    return this.#apply(next)
  }

  async #apply(next: ReadConfig): Promise<boolean> {
    const { gateway, seen } = this.#options
    const log = this.#log
    seen.secrets.keep(next.config)
    const later = waitingForRestart(gateway.config, next.config)
    try {
      const applied = await gateway.apply(next)
      seen.journal.write('config', { isUsed: true })
      log.info({ applied }, 'The configuration was changed, and is in use.')
      if (later.length > 0)
        log.warn({ later }, `Changes of ${later.join(', ')} are not used before the gateway is started again.`)
      return true
    } catch (error) {
      seen.journal.write('config', { isUsed: false })
      log.error({ error }, 'The configuration was changed, and could not be put to use.')
      return false
    }
  }

  #refused(problems: readonly ConfigProblem[]): void {
    this.#options.seen.journal.write('config', { isUsed: false })
    const words = problems.map(problemLine).join('; ')
    this.#log.error({ problems }, `The edit of ${this.#options.file} is not used; what was running goes on. ${words}`)
  }

  async #close(withinMs: number): Promise<void> {
    const { gateway, store, seen } = this.#options
    seen.journal.write('drain', { withinMs })
    seen.gate.close()
    this.#watch?.close()
    const quiet = (): Promise<unknown> => Promise.all([seen.gate.empty(), this.#listening?.answered()])
    await waitedFor(quiet(), withinMs, this.#hurry.signal)
    if (seen.gate.running > 0) this.#log.warn({ calls: seen.gate.running }, 'Calls that had not finished are cut off.')
    await this.#takeBack?.().catch(() => undefined)
    // Those who still wait hear that their call is over before nobody is there to tell them.
    await gateway.upstreams.close()
    await waitedFor(quiet(), lastWordsMs, new AbortController().signal)
    await this.#listening?.close()
    await gateway.close()
    await this.#applying
    await store.close()
  }
}

/** Nobody is let in from outside without a token, whoever asked to listen there. */
function checkDoor(file: string, host: string, { config }: ReadConfig, { http }: StartOptions): void {
  if (http === false || isLoopback(host) || config.tokens.length > 0) return
  throw new ConfigError([{ file, line: 1, column: 1, path: `listen.host "${host}"`, message: openDoor }])
}

function problemsOf(file: string, error: unknown): readonly ConfigProblem[] {
  if (error instanceof ConfigError) return error.problems
  return [{ file, line: 1, column: 1, path: '', message: wordsOf(error) }]
}

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const pick = ({ host, port }: StartOptions) => ({ ...(host !== undefined && { host }), ...(port !== undefined && { port }) })

async function openStore({ config }: ReadConfig, { home, file, log }: StartOptions): Promise<CatalogStore> {
  const { store } = config
  if (store.kind === 'memory') return memoryCatalog()
  const path = store.path === undefined ? join(home, 'catalog.db') : resolve(dirname(file), store.path)
  return sqliteCatalog(path, { report: (message) => log.warn({}, message) })
}
