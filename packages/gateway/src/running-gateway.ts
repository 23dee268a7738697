import { printable } from '@unfold-mcp/core'
import { createAdminToken, createBridgeToken } from './access/admin-token.ts'
import type { Reloaded } from './admin/api.ts'
import { wordsOf } from './base/error-text.ts'
import type { Log } from './base/log.ts'
import { type ConfigProblem, problemLine } from './config/problem.ts'
import type { ReadConfig } from './config/read.ts'
import { waitingForRestart } from './config/restart.ts'
import type { Environment } from './config/variables.ts'
import { ConfigWatch } from './config/watch.ts'
import { defaultDrainMs, waitedFor } from './drain.ts'
import type { Gateway } from './gateway/gateway.ts'
import { type ListeningGateway, listenHttp } from './http/listen.ts'
import type { Observation } from './observation.ts'
import { writeRunFile } from './run-file.ts'
import type { CatalogStore } from './stores/catalog.ts'
import type { Applied } from './upstreams/upstreams.ts'

export interface CloseOptions {
  /** How long calls that run may take to finish; 10 seconds by default. */
  readonly withinMs?: number
}

const lastWordsMs = 500

export interface GatewayLifeOptions {
  readonly gateway: Gateway
  readonly store: CatalogStore
  readonly seen: Observation
  /** The configuration file. */
  readonly file: string
  readonly environment: Environment
  /** The folder for the user's data. */
  readonly home: string
}

/** Where clients are served over HTTP. */
export interface ServedAt {
  readonly host: string
  readonly port: number
}

/** All that is started beside a gateway, from its beginning to its end. */
export class GatewayLife {
  readonly #options: GatewayLifeOptions
  readonly #log: Log
  readonly #hurry = new AbortController()
  #watch: ConfigWatch | undefined
  #listening: ListeningGateway | undefined
  #takeBack: (() => Promise<void>) | undefined
  #applying: Promise<boolean> = Promise.resolve(true)
  #url: string | undefined
  #isReady = false
  #closing: Promise<void> | undefined

  constructor(options: GatewayLifeOptions) {
    this.#options = options
    this.#log = options.seen.log
  }

  /** Where MCP clients connect, if over HTTP. */
  get url(): string | undefined {
    return this.#url
  }

  /** Listens for clients, or only for commands of the same user where none are served `at` an address, and follows the file. */
  async begin(read: ReadConfig, at: ServedAt | undefined): Promise<void> {
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
  async reload(): Promise<Reloaded> {
    await this.#watch?.reload()
    const isApplied = await this.#applying
    const problems = this.#watch?.problems ?? []
    return { isUsed: isApplied && problems.length === 0, problems }
  }

  /** Ends all of it, once the calls that run are finished or their time is up. */
  close({ withinMs = defaultDrainMs }: CloseOptions = {}): Promise<void> {
    if (this.#closing !== undefined) this.#hurry.abort()
    this.#closing ??= this.#close(withinMs)
    return this.#closing
  }

  async #listen({ host, port }: ServedAt, transport: 'http' | 'stdio'): Promise<string> {
    const { gateway, seen, file, home } = this.#options
    const admin = createAdminToken()
    const { log, journal, metrics, secrets, shortfalls } = seen
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
      shortfalls: () => shortfalls.all(),
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
    this.#log.warn({ error }, `Commands such as "unfold status" will not find this gateway: ${wordsOf(error)}`)
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
      await this.#listening?.dismiss()
      seen.journal.write('config', { isUsed: true })
      log.info({ applied }, `The configuration was changed, and is in use.${appliedWords(applied)}`)
      if (later.length > 0)
        log.warn({ later }, `Changes of ${later.join(', ')} are not used before the gateway is started again.`)
      return true
    } catch (error) {
      seen.journal.write('config', { isUsed: false })
      log.error({ error }, 'The configuration was changed, and could not be put to use.')
      return false
    }
  }

  #restored(): void {
    this.#options.seen.journal.write('config', { isUsed: true })
    this.#log.info({}, 'The configuration can be used again, and is what it was before.')
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
    this.#listening?.drain()
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
    await seen.close()
  }
}

const deeds = { added: 'Added', removed: 'Removed', replaced: 'Started anew' } as const

/** What became of which servers. */
function appliedWords(applied: Applied): string {
  const parts = (['added', 'removed', 'replaced'] as const).filter((part) => applied[part].length > 0)
  return parts.map((part) => ` ${deeds[part]}: ${applied[part].map((name) => printable(name)).join(', ')}.`).join('')
}
