import { isRecord } from '@unfold-mcp/core'
import type { Approval, Change } from '../approvals/approval.ts'
import { type ApprovalStore, isListed } from '../approvals/store.ts'
import { Decisions, type DecisionText } from './decisions.ts'
import type { DataEpoch } from './epoch.ts'
import type { Redis } from './redis.ts'

const format = 1

/** Approvals in Redis: each is used once, on whichever replica. */
export async function redisApprovalStore(redis: Redis, epoch: DataEpoch): Promise<ApprovalStore> {
  const decisions = await Decisions.open(redis, epoch, 'approvals')
  const update = <T>(call: string, change: (approvals: readonly Approval[]) => Change<T>): Promise<T> =>
    decisions.update(call, (text) => {
      const before = parse(text)
      const [after, result] = change(before)
      return {
        before: written(before),
        after: after === before ? { ...written(before), text: text ?? '' } : written(after),
        result,
      }
    })
  return {
    update,
    list: async () => (await decisions.all()).flatMap(parse).filter(isListed).toSorted(byAge),
    find: async (id) => parse(await decisions.find(id)).find((approval) => approval.id === id),
    async removeExpired(now) {
      const removed = await Promise.all(
        (await decisions.expired(now)).map((call) =>
          update(call, (approvals) => [
            approvals.filter(({ expiresAt }) => expiresAt > now),
            approvals.filter(({ expiresAt }) => expiresAt <= now),
          ]),
        ),
      )
      return removed.flat()
    },
    watch: (changed) => decisions.watch(changed),
    [Symbol.asyncDispose]: () => decisions[Symbol.asyncDispose](),
  }
}

const byAge = (one: Approval, other: Approval): number => one.question.askedAt - other.question.askedAt

function written(approvals: readonly Approval[]): DecisionText {
  if (approvals.length === 0) return { text: '' }
  return {
    text: JSON.stringify({ format, approvals }),
    ids: approvals.map(({ id }) => id),
    expiresAt: Math.min(...approvals.map(({ expiresAt }) => expiresAt)),
  }
}

/** Throws for a foreign or damaged value: an approval must not be read wrongly. */
function parse(text: string | undefined): readonly Approval[] {
  if (text === undefined) return []
  const value: unknown = JSON.parse(text)
  if (isRecord(value) && value.format === format && Array.isArray(value.approvals) && value.approvals.every(isApproval))
    return value.approvals
  throw new Error('Redis has an invalid approval, or one of another version of the gateway.')
}

const isApproval = (value: unknown): value is Approval =>
  isRecord(value) &&
  [value.id, value.call, value.state, value.grant].every((each) => typeof each === 'string') &&
  typeof value.expiresAt === 'number' &&
  isRecord(value.question)
