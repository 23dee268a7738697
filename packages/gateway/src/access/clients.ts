import { hostByClientName, printable } from '@unfold-mcp/core'
import type { SessionClient } from '@unfold-mcp/server'
import type { Client } from './access.ts'

/** A client in the status report. */
export interface ClientStatus {
  readonly era: 'session' | 'stateless'
  /** Absent for HTTP. */
  readonly transport?: 'stdio'
  /** From `clientInfo`, or the User-Agent header of a client without a session. */
  readonly name?: string
  readonly version?: string
  /** Id of its host, if its name is that of a known one. */
  readonly host?: string
  /** Name of its token. */
  readonly token?: string
  readonly profile?: string
  /** Set when the client connected to a single server. */
  readonly server?: string
  readonly sinceMs: number
  readonly idleMs: number
  /** Not counted for sessions. */
  readonly requests?: number
  readonly isListening?: boolean
}

interface StatelessClient {
  readonly client: Client
  readonly agent: string
  readonly since: number
  lastSeen: number
  requests: number
}

const maxClients = 500
const forgetAfterMs = 30 * 60_000

/** Clients without a session, by principal and User-Agent. */
export class StatelessClients {
  readonly #byKey = new Map<string, StatelessClient>()
  readonly #now: () => number

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  record(client: Client, userAgent: string | undefined): void {
    const now = this.#now()
    const agent = printable(userAgent ?? '', 80)
    const key = `${client.id} ${agent}`
    const entry = this.#byKey.get(key) ?? { client, agent, since: now, lastSeen: now, requests: 0 }
    entry.lastSeen = now
    entry.requests++
    // Reinserted, so that the least recently seen client comes first.
    this.#byKey.delete(key)
    this.#byKey.set(key, entry)
    for (const [oldest, { lastSeen }] of this.#byKey) {
      if (this.#byKey.size <= maxClients && now - lastSeen < forgetAfterMs) break
      this.#byKey.delete(oldest)
    }
  }

  statuses(): readonly ClientStatus[] {
    const now = this.#now()
    return [...this.#byKey.values()].map(({ client, agent, since, lastSeen, requests }) => ({
      era: 'stateless',
      ...(agent !== '' && { name: agent }),
      // Such as "claude-code/2.1.0".
      ...hostOf(agent.split('/', 1)[0]),
      ...clientLabels(client),
      sinceMs: Math.round(now - since),
      idleMs: Math.round(now - lastSeen),
      requests,
    }))
  }
}

const hostOf = (name: string | undefined): Pick<ClientStatus, 'host'> => {
  const host = name === undefined ? undefined : hostByClientName(name)
  return host === undefined ? {} : { host: host.id }
}

export function sessionStatus({ name, version, principal, sinceMs, idleMs, isListening }: SessionClient): ClientStatus {
  return {
    era: 'session',
    ...(name !== undefined && { name: printable(name) }),
    ...(version !== undefined && { version: printable(version) }),
    ...hostOf(name),
    ...clientLabels(principal),
    sinceMs: Math.round(sinceMs),
    idleMs: Math.round(idleMs),
    isListening,
  }
}

export const clientLabels = (client: Client | undefined): Pick<ClientStatus, 'token' | 'profile' | 'server'> => ({
  ...(client?.token !== undefined && { token: client.token }),
  ...(client?.profile !== undefined && { profile: client.profile }),
  ...(client?.server !== undefined && { server: client.server }),
})
