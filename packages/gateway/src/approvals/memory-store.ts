import type { Approval } from './approval.ts'
import { type ApprovalStore, isListed } from './store.ts'

/** Keeps approvals until the process ends. */
export function memoryApprovalStore(): ApprovalStore {
  let all: readonly Approval[] = []
  return {
    async update(call, change) {
      const [approvals, result] = change(all.filter((each) => each.call === call))
      all = [...all.filter((each) => each.call !== call), ...approvals]
      return result
    },
    list: async () => all.filter(isListed),
    find: async (id) => all.find((each) => each.id === id),
    async removeExpired(now) {
      const expired = all.filter(({ expiresAt }) => expiresAt <= now)
      all = all.filter(({ expiresAt }) => expiresAt > now)
      return expired
    },
    watch: () => () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  }
}
