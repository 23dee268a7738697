import { printable } from '@unfold-mcp/core'
import type { SessionClient } from '@unfold-mcp/server'
import type { Client } from './access.ts'

/** A client of the gateway, as far as it is known. */
export interface ClientStatus {
  readonly era: 'session' | 'stateless'
  /** How it is connected, where that is not HTTP. */
  readonly transport?: 'stdio'
  /** What the client says it is. */
  readonly name?: string
  readonly version?: string
  /** The name of its token, where it has one. */
  readonly token?: string
  readonly profile?: string
  /** The server that it is connected to alone. */
  readonly server?: string
  readonly sinceMs: number
  readonly idleMs: number
  /** How many requests it made; of a session that is not counted. */
  readonly requests?: number
  readonly isListening?: boolean
}

interface Caller {
  readonly client: Client
  readonly agent: string
  readonly since: number
  last: number
  requests: number
}

const maxClients = 500
const forgetAfterMs = 30 * 60_000

/** Those who ask without a session, each by who it is and what program it says it is. */
export class StatelessClients {
  readonly #byKey = new Map<string, Caller>()
  readonly #now: () => number

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  record(client: Client, userAgent: string | undefined): void {
    const now = this.#now()
    const agent = printable(userAgent ?? '', 80)
    const key = `${client.id} ${agent}`
    const known = this.#byKey.get(key)
    // SanitizedTool out and put back, the one that was heard of least lately comes first.
    this.#byKey.delete(key)
    const caller = known ?? { client, agent, since: now, last: now, requests: 0 }
    caller.last = now
    caller.requests++
    this.#byKey.set(key, caller)
    for (const [oldest, { last }] of this.#byKey) {
      if (this.#byKey.size <= maxClients && now - last < forgetAfterMs) break
      this.#byKey.delete(oldest)
    }
  }

  statuses(): readonly ClientStatus[] {
    const now = this.#now()
    return [...this.#byKey.values()].map(({ client, agent, since, last, requests }) => ({
      era: 'stateless',
      ...(agent !== '' && { name: agent }),
      ...holder(client),
      sinceMs: Math.round(now - since),
      idleMs: Math.round(now - last),
      requests,
    }))
  }
}

/** A client with a session. */
export function sessionStatus({ name, version, principal, sinceMs, idleMs, isListening }: SessionClient): ClientStatus {
  return {
    era: 'session',
    ...(name !== undefined && { name: printable(name) }),
    ...(version !== undefined && { version: printable(version) }),
    ...holder(principal),
    sinceMs: Math.round(sinceMs),
    idleMs: Math.round(idleMs),
    isListening,
  }
}

/** The token, the profile and the server of a client. */
export const holder = (client: Client | undefined): Pick<ClientStatus, 'token' | 'profile' | 'server'> => ({
  ...(client?.token !== undefined && { token: client.token }),
  ...(client?.profile !== undefined && { profile: client.profile }),
  ...(client?.server !== undefined && { server: client.server }),
})
