import type { ApprovalStore } from './approvals/store.ts'
import type { Replica } from './base/replica.ts'
import { redisActivations } from './cluster/activation-store.ts'
import { redisApprovalStore } from './cluster/approval-store.ts'
import { RedisCatalog, type RedisCatalogOptions } from './cluster/lists/catalog-store.ts'
import { redisBuckets } from './cluster/rate-limits.ts'
import { redisResults } from './cluster/result-store.ts'
import { redisTrustStore } from './cluster/trust-store.ts'
import type { GatewayOptions } from './gateway/gateway.ts'
import type { SharedBuckets } from './middleware/rate-limiter.ts'
import type { SharedState } from './open-cluster.ts'
import { redisScriptStore } from './scripts/redis-store.ts'
import type { ScriptStorage } from './scripts/storage.ts'
import type { CatalogStore } from './stores/catalog.ts'
import type { TrustStore } from './trust/records/store.ts'

/** Stores in Redis, in place of those in memory and on disk. */
export interface SharedStores extends Required<Pick<GatewayOptions, 'activations' | 'results'>> {
  readonly store: CatalogStore
  readonly trust: TrustStore
  readonly approvals: ApprovalStore
  readonly buckets: SharedBuckets
  readonly scripts: ScriptStorage
}

export async function openSharedStores(
  { redis, epoch }: SharedState,
  replica: Replica,
  options: RedisCatalogOptions,
): Promise<SharedStores> {
  return {
    store: new RedisCatalog(redis, options),
    trust: await redisTrustStore(redis, epoch),
    approvals: await redisApprovalStore(redis, epoch),
    activations: redisActivations(redis),
    results: redisResults(redis),
    buckets: redisBuckets(redis),
    scripts: {
      store: redisScriptStore(redis, replica),
      secret: replica.scriptKey,
      [Symbol.asyncDispose]: async () => undefined,
    },
  }
}
