import { isRecord } from '@unfold-mcp/core'
import { emptyRecord, isItemKind, type ServerRecord } from '../trust/records/record.ts'
import type { TrustStore } from '../trust/records/store.ts'
import { Decisions } from './decisions.ts'
import type { DataEpoch } from './epoch.ts'
import type { Redis } from './redis.ts'

const format = 1

/** Trust decisions in Redis, the same for all replicas. */
export async function redisTrustStore(redis: Redis, epoch: DataEpoch): Promise<TrustStore> {
  const decisions = await Decisions.open(redis, epoch, 'trust')
  return {
    load: async (server) => parse(await decisions.read(server)),
    update: (server, change) =>
      decisions.update(server, (text) => {
        const result = change(parse(text))
        return { before: { text: '' }, after: { text: JSON.stringify({ format, record: result }) }, result }
      }),
    servers: async () => (await decisions.names()).toSorted(),
    watch: (changed) => decisions.watch(changed),
    [Symbol.asyncDispose]: () => decisions[Symbol.asyncDispose](),
  }
}

/** Throws for a foreign or damaged value: a decision must not be read wrongly. */
function parse(text: string | undefined): ServerRecord {
  if (text === undefined) return emptyRecord
  const value: unknown = JSON.parse(text)
  if (isRecord(value) && value.format === format && isServerRecord(value.record)) return value.record
  throw new Error('Redis has an invalid trust record, or one of another version of the gateway.')
}

function isServerRecord(value: unknown): value is ServerRecord {
  if (!isRecord(value)) return false
  const { baseline, accepted, blocked } = value
  return (
    Array.isArray(baseline) &&
    baseline.every((kind) => typeof kind === 'string' && isItemKind(kind)) &&
    isItems(accepted, 'digest') &&
    isItems(blocked, 'body')
  )
}

const isItems = (value: unknown, digest: 'digest' | 'body'): boolean =>
  Array.isArray(value) &&
  value.every(
    (item) =>
      isRecord(item) &&
      typeof item.kind === 'string' &&
      isItemKind(item.kind) &&
      typeof item.name === 'string' &&
      typeof item[digest] === 'string' &&
      isRecord(item.definition),
  )
