import { join } from 'node:path'
import type { AuthorizationServerMetadata, OAuthClientInformationMixed } from '@modelcontextprotocol/client'
import { withLock } from '@unfold-mcp/client/lock'
import { isRecord } from '@unfold-mcp/core'
import { privateStore } from '../config/private-store.ts'

const locking = { staleMs: 60_000, timeoutMs: 120_000 }

/** A completed sign-in. */
export interface Grant {
  /** Unique per sign-in; separates caches. */
  readonly id: string
  readonly issuer: string
  /** URL of the server without its query. Tokens are sent only there. */
  readonly resource: string
  /** Resource indicator of the authorization server. */
  readonly indicator?: string
  readonly client: OAuthClientInformationMixed
  /** Redirect URL of the registration. */
  readonly redirect: string
  readonly tokens: Tokens
  readonly authorizationServer: string
  readonly metadata?: AuthorizationServerMetadata
}

export interface Tokens {
  readonly access: string
  readonly refresh?: string
  readonly scope?: string
  /** Expiry of the access token, in milliseconds since 1970. */
  readonly expiresAt?: number
}

export interface TokenStore {
  readonly file: string
  /** Latest sign-in to a URL. */
  find(address: string): Promise<Grant | undefined>
  /** Replaces a sign-in with the same issuer and resource. */
  keep(grant: Grant): Promise<void>
  /** Removes all sign-ins to a URL and returns them. */
  forget(address: string): Promise<readonly Grant[]>
  /** Refreshes the tokens, unless another process already did; serialised by a lock. */
  renew(grant: Grant, work: (current: Grant) => Promise<Tokens | undefined>): Promise<Grant | undefined>
}

/** The part of a URL that tokens are bound to. */
export function resourceOf(address: string): string {
  const { origin, pathname } = new URL(address)
  return `${origin}${pathname}`
}

/** Stores sign-ins in `tokens.json`. Ignores a file that others can read or write. */
export function tokenStore(folder: string, warn: (message: string) => void = () => undefined): TokenStore {
  const { file, list, save } = privateStore<Grant>(folder, {
    name: 'tokens.json',
    format: 'unfold-tokens',
    key: 'grants',
    isItem: isGrant,
    forbidden: { mode: 0o077, message: 'The file is readable by others; run chmod 600 on it, or sign in again.' },
    consequence: 'sign-ins are not used',
    warn,
  })
  const locked = <T>(work: () => Promise<T>): Promise<T> => withLock(join(folder, 'tokens.lock'), locking, work)
  const find = async (address: string): Promise<Grant | undefined> => {
    const resource = resourceOf(address)
    return (await list()).findLast((grant) => grant.resource === resource)
  }
  const replace = async (grant: Grant): Promise<void> => {
    const others = (await list()).filter(({ issuer, resource }) => issuer !== grant.issuer || resource !== grant.resource)
    await save([...others, grant])
  }
  return {
    file,
    find,
    keep: (grant) => locked(() => replace(grant)),
    forget: (address) =>
      locked(async () => {
        const resource = resourceOf(address)
        const all = await list()
        const removed = all.filter((grant) => grant.resource === resource)
        if (removed.length > 0) await save(all.filter((grant) => grant.resource !== resource))
        return removed
      }),
    renew: (grant, work) =>
      locked(async () => {
        const current = await find(grant.resource)
        if (current === undefined || current.tokens.access !== grant.tokens.access) return current
        const tokens = await work(current)
        if (tokens === undefined) {
          await save((await list()).filter(({ id }) => id !== current.id))
          return undefined
        }
        const renewed = { ...current, tokens }
        await replace(renewed)
        return renewed
      }),
  }
}

const isGrant = (value: unknown): value is Grant =>
  isRecord(value) &&
  [value.id, value.issuer, value.resource, value.redirect, value.authorizationServer].every((each) => typeof each === 'string') &&
  isRecord(value.client) &&
  typeof value.client.client_id === 'string' &&
  isRecord(value.tokens) &&
  typeof value.tokens.access === 'string'
