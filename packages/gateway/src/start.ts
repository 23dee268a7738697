import { dirname, join, resolve } from 'node:path'
import type { ConfigDiff } from './config/diff.ts'
import type { ConfigProblem } from './config/problem.ts'
import { type ReadConfig, readConfig } from './config/read.ts'
import type { Environment } from './config/variables.ts'
import { ConfigWatch } from './config/watch.ts'
import { Gateway } from './gateway.ts'
import { type ListeningGateway, listenHttp } from './http/listen.ts'
import type { Log } from './log.ts'
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

/** A gateway that runs: it follows its configuration file until it is closed. */
export interface RunningGateway extends AsyncDisposable {
  readonly gateway: Gateway
  /** Where MCP clients connect, if over HTTP. */
  readonly url: string | undefined
  /** Reads the configuration file now. Done when it is in use, or was refused. */
  reload(): Promise<void>
  close(): Promise<void>
}

/** Starts a gateway from its configuration file. Throws `ConfigError` for one that cannot be used. */
export async function startGateway(options: StartOptions): Promise<RunningGateway> {
  const { environment, log } = options
  const file = resolve(options.file)
  const read = await readConfig(file, environment)
  const store = await openStore(read, options)
  const gateway = await Gateway.open({ read, folder: dirname(file), store, log })
  let listening: ListeningGateway | undefined
  try {
    const { host, port } = { ...read.config.listen, ...pick(options) }
    listening = options.http === false ? undefined : await listenHttp(gateway, { host, port })
  } catch (error) {
    await gateway.close()
    await store.close()
    throw error
  }
  const watch = new ConfigWatch(file, read, {
    environment,
    changed: (next, diff) => void changed(gateway, next, diff, log),
    invalid: (problems) =>
      log.error({ problems }, `The edit of ${file} is not used; what was running goes on. ${words(problems)}`),
  })
  const close = async (): Promise<void> => {
    watch.close()
    await listening?.close()
    await gateway.close()
    await store.close()
  }
  return { gateway, url: listening?.url, reload: () => watch.reload(), close, [Symbol.asyncDispose]: close }
}

async function changed(gateway: Gateway, read: ReadConfig, diff: ConfigDiff, log: Log): Promise<void> {
  try {
    const applied = await gateway.apply(read)
    log.info({ applied, others: diff.others }, 'The configuration was changed, and is in use.')
  } catch (error) {
    log.error({ error }, 'The configuration was changed, and could not be put to use.')
  }
}

const pick = ({ host, port }: StartOptions) => ({ ...(host !== undefined && { host }), ...(port !== undefined && { port }) })

const words = (problems: readonly ConfigProblem[]): string =>
  problems.map(({ line, column, message }) => `${line}:${column} ${message}`).join('; ')

async function openStore({ config }: ReadConfig, { home, file, log }: StartOptions): Promise<CatalogStore> {
  const { store } = config
  if (store.kind === 'memory') return memoryCatalog()
  const path = store.path === undefined ? join(home, 'catalog.db') : resolve(dirname(file), store.path)
  return sqliteCatalog(path, { report: (message) => log.warn({}, message) })
}
