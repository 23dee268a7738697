import { createHash } from 'node:crypto'
import { dirname, join, resolve } from 'node:path'
import { fileStore } from '@unfold-mcp/server/stores/file'
import { memoryApprovalStore } from './approvals/memory-store.ts'
import type { ApprovalStore } from './approvals/store.ts'
import { errorMessage } from './base/error-message.ts'
import type { Log } from './base/log.ts'
import type { Replica } from './base/replica.ts'
import type { ReadConfig } from './config/read.ts'
import type { GatewayOptions } from './gateway/gateway.ts'
import type { SharedBuckets } from './middleware/rate-limiter.ts'
import type { SharedState } from './open-cluster.ts'
import type { ScriptStorage } from './scripts/storage.ts'
import type { CatalogStore } from './stores/catalog.ts'
import { decisionPath } from './stores/decision-path.ts'
import { memoryCatalog } from './stores/memory.ts'
import { memoryTrustStore } from './trust/records/memory-store.ts'
import type { TrustStore } from './trust/records/store.ts'
import { trustFile } from './trust/records/trust-file.ts'

/** Where a gateway keeps its data. */
interface Places {
  /** The configuration file. */
  readonly file: string
  /** Folder for the user's data. */
  readonly home: string
}

// One file per client, separate for each configuration file.
function activationStore({ config }: ReadConfig, { file, home }: Places): Pick<GatewayOptions, 'activations'> {
  if (config.store.kind === 'memory') return {}
  const folder = createHash('sha256').update(file).digest('hex').slice(0, 16)
  return { activations: fileStore(join(home, 'activations', folder)) }
}

/** What a gateway stores. */
export interface Stores extends Pick<GatewayOptions, 'activations' | 'results'> {
  readonly store: CatalogStore
  readonly trust: TrustStore | 'unavailable'
  readonly approvals: ApprovalStore | 'unavailable'
  readonly buckets?: SharedBuckets
  /** Absent if paused scripts end with the process. */
  readonly scripts?: ScriptStorage
}

export interface StoresOptions {
  /** Set if the replicas share their state; then nothing is stored on disk. */
  readonly shared: SharedState | undefined
  /** Set if there are several replicas. */
  readonly replica: Replica | undefined
  /** Called when another replica may have stored a newer list of a server. */
  readonly onStale: (key: string) => void
  readonly onStatus: (part: 'store' | 'trust' | 'approvals' | 'scripts', problem: string | undefined) => void
}

/** Opens the stores of a gateway: in Redis, in files or in memory. */
export async function openStores(
  read: ReadConfig,
  places: Places & { readonly log: Log },
  { shared, replica, onStale, onStatus }: StoresOptions,
): Promise<Stores> {
  if (shared !== undefined && replica !== undefined) {
    const { openSharedStores } = await import('./shared-stores.ts')
    return openSharedStores(shared, replica, { report: (message) => places.log.warn({}, message), onStale })
  }
  return {
    store: await openCatalog(read, places, (problem) => onStatus('store', problem)),
    trust: await openTrust(read, places, (problem) => onStatus('trust', problem)),
    approvals: await openApprovals(read, places, (problem) => onStatus('approvals', problem)),
    ...(await openScripts(read, places, replica, (problem) => onStatus('scripts', problem))),
    ...activationStore(read, places),
  }
}

/** Files of the gateway, which hold secrets and decisions. Servers in a sandbox do not see them. */
export function ownFiles(read: ReadConfig, { file, home }: Places): readonly string[] {
  const { store, audit } = read.config
  const database = store.kind === 'sqlite' ? storePath(store.path, { file, home }) : undefined
  return [
    ...[resolve(file), resolve(home)],
    ...(database === undefined ? [] : ['', '-wal', '-shm'].map((suffix) => `${database}${suffix}`)),
    ...(audit === undefined ? [] : [resolve(dirname(file), audit.path)]),
  ]
}

const storePath = (path: string | undefined, { file, home }: Places): string =>
  path === undefined ? join(home, 'catalog.db') : resolve(dirname(file), path)

/** Opens the cache of the servers' definitions. */
async function openCatalog(
  { config }: ReadConfig,
  { home, file, log }: Places & { readonly log: Log },
  onStatus: (problem: string | undefined) => void,
): Promise<CatalogStore> {
  const { store } = config
  if (store.kind === 'memory') return memoryCatalog()
  const path = storePath(store.path, { file, home })
  const { sqliteCatalog } = await import('./stores/sqlite.ts')
  return sqliteCatalog(path, { report: (message) => log.warn({}, message), onStatus })
}

/** The decisions about servers, separate for each configuration file. They are never replaced by a new file. */
async function openTrust(
  { config }: ReadConfig,
  { home, file }: Places,
  onStatus: (problem: string | undefined) => void,
): Promise<TrustStore | 'unavailable'> {
  if (config.store.kind === 'memory') return memoryTrustStore()
  const { sqliteTrustStore } = await import('./trust/records/sqlite-store.ts')
  try {
    return await sqliteTrustStore(trustFile(home, file))
  } catch (error) {
    const problem = `${errorMessage(error)} Tools of servers with "trust": "pin" or "review" are held. Restore the file from a backup, or delete it to accept what the servers offer now.`
    onStatus(problem)
    return 'unavailable'
  }
}

/** What continues paused scripts after a restart. Without it, they end with the process. */
async function openScripts(
  { config }: ReadConfig,
  { home, file }: Places,
  replica: Replica | undefined,
  onStatus: (problem: string | undefined) => void,
): Promise<Pick<Stores, 'scripts'>> {
  if (config.store.kind === 'memory' || config.code === false) return {}
  const { sqliteScriptStorage } = await import('./scripts/sqlite-store.ts')
  try {
    const storage = await sqliteScriptStorage(decisionPath(home, 'scripts', file))
    // Replicas with a common secret continue each other's scripts.
    return { scripts: replica === undefined ? storage : { ...storage, secret: replica.scriptKey } }
  } catch (error) {
    onStatus(`${errorMessage(error)} Paused scripts do not survive a restart. Delete the file.`)
    return {}
  }
}

/** The answers to calls that need approval. Without them, such calls are denied. */
async function openApprovals(
  { config }: ReadConfig,
  { home, file }: Places,
  onStatus: (problem: string | undefined) => void,
): Promise<ApprovalStore | 'unavailable'> {
  if (config.store.kind === 'memory') return memoryApprovalStore()
  const { sqliteApprovalStore } = await import('./approvals/sqlite-store.ts')
  try {
    return await sqliteApprovalStore(decisionPath(home, 'approvals', file))
  } catch (error) {
    onStatus(`${errorMessage(error)} Calls that need approval are denied. Restore the file from a backup, or delete it.`)
    return 'unavailable'
  }
}
