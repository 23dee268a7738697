import { printable } from '@unfold-mcp/core'
import { createAdminToken, createBridgeToken } from './access/admin-token.ts'
import type { ReloadResult } from './admin/api.ts'
import { errorMessage } from './base/error-message.ts'
import type { Log } from './base/log.ts'
import { type ConfigProblem, problemLine } from './config/problem.ts'
import type { ReadConfig } from './config/read.ts'
import { restartRequired } from './config/restart.ts'
import type { Environment } from './config/variables.ts'
import { ConfigWatch } from './config/watch.ts'
import { defaultDrainMs, settledWithin } from './drain.ts'
import type { Gateway } from './gateway/gateway.ts'
import { type ListeningGateway, listenHttp } from './http/listen.ts'
import type { Instrumentation } from './instrumentation.ts'
import { writeRunFile } from './run-file.ts'
import type { CatalogStore } from './stores/catalog.ts'
import type { Applied } from './upstreams/upstreams.ts'

export interface CloseOptions {
  /** How long calls that run may take to finish; 10 seconds by default. */
  readonly withinMs?: number
}

const lastWordsMs = 500

export interface GatewayServiceOptions {
  readonly gateway: Gateway
  readonly store: CatalogStore
  readonly instrumentation: Instrumentation
  /** The configuration file. */
  readonly file: string
  readonly environment: Environment
  /** The folder for the user's data. */
  readonly home: string
}

/** Where clients are served over HTTP. */
export interface ListenAddress {
  readonly host: string
  readonly port: number
}

/** All that is started beside a gateway, from its beginning to its end. */
export class GatewayService {
  readonly #options: GatewayServiceOptions
  readonly #log: Log
  readonly #hurry = new AbortController()
  #watch: ConfigWatch | undefined
  #listening: ListeningGateway | undefined
  #takeBack: (() => Promise<void>) | undefined
  #applying: Promise<boolean> = Promise.resolve(true)
  #url: string | undefined
  #isReady = false
  #closing: Promise<void> | undefined

  constructor(options: GatewayServiceOptions) {
    this.#options = options
    this.#log = options.instrumentation.log
  }

  /** Where MCP clients connect, if over HTTP. */
  get url(): string | undefined {
    return this.#url
  }

  /** Listens for clients, or only for commands of the same user where none are served `at` an address, and follows the file. */
  async create(read: ReadConfig, at: ListenAddress | undefined): Promise<void> {
    const { file, environment } = this.#options
    void this.#untilReady()
    if (at !== undefined) this.#url = await this.#listen(at, 'http')
    // One client is served without it.
    else await this.#listen({ host: '127.0.0.1', port: 0 }, 'stdio').catch((error: unknown) => this.#isHidden(error))
    this.#watch = new ConfigWatch(file, read, {
      environment,
      changed: (next) => {
        this.#applying = this.#applyAfter(this.#applying, next)
      },
      invalid: (problems) => this.#refused(problems),
      restored: () => this.#restored(),
    })
  }

  /** Reads the configuration file now. */
  async reload(): Promise<ReloadResult> {
    await this.#watch?.reload()
    const isApplied = await this.#applying
    const problems = this.#watch?.problems ?? []
    return { isApplied: isApplied && problems.length === 0, problems }
  }

  /** Ends all of it, once the calls that run are finished or their time is up. */
  close({ withinMs = defaultDrainMs }: CloseOptions = {}): Promise<void> {
    if (this.#closing !== undefined) this.#hurry.abort()
    this.#closing ??= this.#close(withinMs)
    return this.#closing
  }

  async #listen({ host, port }: ListenAddress, transport: 'http' | 'stdio'): Promise<string> {
    const { gateway, instrumentation, file, home } = this.#options
    const admin = createAdminToken()
    const { log, journal, metrics, secrets, degraded } = instrumentation
    const bridge = transport === 'http' ? createBridgeToken() : undefined
    secrets.add([admin, ...(bridge === undefined ? [] : [bridge])])
    this.#listening = await listenHttp(gateway, {
      host,
      port,
      admin,
      bridge,
      config: file,
      log,
      journal,
      metrics,
      secrets,
      transport,
      degraded: () => degraded.all(),
      problems: () => this.#watch?.problems ?? [],
      isReady: () => this.#isReady && this.#closing === undefined,
      isDraining: () => this.#closing !== undefined,
      reload: () => this.reload(),
    })
    const { url } = this.#listening
    try {
      this.#takeBack = await writeRunFile(home, {
        pid: process.pid,
        url,
        admin,
        ...(bridge !== undefined && { bridge }),
        config: file,
        transport,
        startedAt: new Date().toISOString(),
      })
    } catch (error) {
      this.#isHidden(error)
    }
    if (transport === 'http') log.info({ url }, `MCP clients connect to ${url}`)
    return url
  }

  #isHidden(error: unknown): void {
    this.#log.warn({ error }, `Commands such as "unfold status" will not find this gateway: ${errorMessage(error)}`)
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
    const { gateway, instrumentation } = this.#options
    const log = this.#log
    instrumentation.secrets.keep(next.config)
    const later = restartRequired(gateway.config, next.config)
    try {
      const applied = await gateway.apply(next)
      await this.#listening?.dismiss()
      instrumentation.journal.write('config', { isApplied: true })
      log.info({ applied }, `The configuration was changed, and is in use.${appliedWords(applied)}`)
      if (later.length > 0)
        log.warn({ later }, `Changes of ${later.join(', ')} are not used before the gateway is started again.`)
      return true
    } catch (error) {
      instrumentation.journal.write('config', { isApplied: false })
      log.error({ error }, 'The configuration was changed, and could not be put to use.')
      return false
    }
  }

  #restored(): void {
    this.#options.instrumentation.journal.write('config', { isApplied: true })
    this.#log.info({}, 'The configuration can be used again, and is what it was before.')
  }

  #refused(problems: readonly ConfigProblem[]): void {
    this.#options.instrumentation.journal.write('config', { isApplied: false })
    const words = problems.map(problemLine).join('; ')
    this.#log.error({ problems }, `The edit of ${this.#options.file} is not used; what was running goes on. ${words}`)
  }

  async #close(withinMs: number): Promise<void> {
    const { gateway, store, instrumentation } = this.#options
    instrumentation.journal.write('drain', { withinMs })
    instrumentation.gate.close()
    this.#listening?.drain()
    this.#watch?.close()
    const quiet = (): Promise<unknown> => Promise.all([instrumentation.gate.empty(), this.#listening?.answered()])
    await settledWithin(quiet(), withinMs, this.#hurry.signal)
    if (instrumentation.gate.running > 0) this.#log.warn({ calls: instrumentation.gate.running }, 'Calls that had not finished are cut off.')
    await this.#takeBack?.().catch(() => undefined)
    // Those who still wait hear that their call is over before nobody is there to tell them.
    await gateway.upstreams.close()
    await settledWithin(quiet(), lastWordsMs, new AbortController().signal)
    await this.#listening?.close()
    await gateway.close()
    await this.#applying
    await store.close()
    await instrumentation.close()
  }
}

const deeds = { added: 'Added', removed: 'Removed', replaced: 'Started anew' } as const

/** What became of which servers. */
function appliedWords(applied: Applied): string {
  const parts = (['added', 'removed', 'replaced'] as const).filter((part) => applied[part].length > 0)
  return parts.map((part) => ` ${deeds[part]}: ${applied[part].map((name) => printable(name)).join(', ')}.`).join('')
}
