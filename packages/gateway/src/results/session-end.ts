import type { Extension } from '@unfold-mcp/server'
import { isConnectionScope } from '../base/connection-scope.ts'
import type { ResultStore } from './store.ts'

/** Releases the results of a session when it ends; those that the sessions of a principal share, with the last of them. */
export function releaseAtSessionEnd(store: ResultStore): Extension {
  const openSessions = new Map<string, number>()
  return ({ server }, { scope, principal }) => {
    if (!isConnectionScope(scope)) return
    const id = principal?.id ?? ''
    const shared = `principal:${id}`
    openSessions.set(id, (openSessions.get(id) ?? 0) + 1)
    const { onclose } = server
    let hasEnded = false
    server.onclose = () => {
      onclose?.()
      if (hasEnded) return
      hasEnded = true
      const others = (openSessions.get(id) ?? 1) - 1
      if (others > 0) openSessions.set(id, others)
      else openSessions.delete(id)
      store.release((owner) => owner.scope === scope || (others === 0 && owner.scope === shared))
    }
  }
}
