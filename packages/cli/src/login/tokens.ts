import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { AuthorizationServerMetadata, OAuthClientInformationMixed } from '@modelcontextprotocol/client'
import { withLock } from '@unfold-mcp/client/lock'
import { isRecord } from '@unfold-mcp/core'
import { writePrivate } from '../base/private-file.ts'
import { readText } from '../config/formats/text.ts'

const locking = { staleMs: 60_000, timeoutMs: 120_000 }

/** That somebody signed in: who gave the tokens, and for what. */
export interface Grant {
  /** Another one for every sign-in; caches are kept apart by it. */
  readonly id: string
  readonly issuer: string
  /** The server's address, without its query. Tokens are sent there and nowhere else. */
  readonly resource: string
  /** What the authorization server calls the resource. */
  readonly indicator?: string
  readonly client: OAuthClientInformationMixed
  /** The address that the client is registered with. */
  readonly redirect: string
  readonly tokens: Tokens
  readonly authorizationServer: string
  readonly metadata?: AuthorizationServerMetadata
}

export interface Tokens {
  readonly access: string
  readonly refresh?: string
  readonly scope?: string
  /** When the first of them ends, in milliseconds since 1970. */
  readonly expiresAt?: number
}

/** Where sign-ins are kept. */
export interface TokenStore {
  readonly file: string
  /** The latest sign-in to this address. */
  find(address: string): Promise<Grant | undefined>
  /** Keeps a sign-in, in place of an earlier one with the same issuer and resource. */
  keep(grant: Grant): Promise<void>
  /** Forgets every sign-in to this address, and gives them back. */
  forget(address: string): Promise<readonly Grant[]>
  /** Gives the grant new tokens, unless another program has done so meanwhile; of all who ask, one does the work. */
  renew(grant: Grant, work: (current: Grant) => Promise<Tokens | undefined>): Promise<Grant | undefined>
}

/** What of an address decides whose token is sent there. */
export function resourceOf(address: string): string {
  const { origin, pathname } = new URL(address)
  return `${origin}${pathname}`
}

const format = 'unfold-tokens'
const version = 1

/** Keeps sign-ins in `tokens.json` in this folder, readable by its owner alone. A file that others can read or write is not used. */
export function tokenStore(folder: string, warn: (message: string) => void = () => undefined): TokenStore {
  const file = join(folder, 'tokens.json')
  const locked = <T>(work: () => Promise<T>): Promise<T> => withLock(join(folder, 'tokens.lock'), locking, work)
  const list = async (): Promise<readonly Grant[]> => {
    const read = await readText(file)
    if (read === undefined) return []
    const ignored = 'problem' in read ? read.problem : await unsafe(file)
    const found = ignored === undefined && 'text' in read ? grantsIn(read.text) : undefined
    if (found === undefined)
      warn(`${file} is ignored, so nobody is signed in. ${ignored ?? 'It is damaged, or of a newer version.'}`)
    return found ?? []
  }
  const find = async (address: string): Promise<Grant | undefined> => {
    const resource = resourceOf(address)
    return (await list()).findLast((grant) => grant.resource === resource)
  }
  const replace = async (grant: Grant): Promise<void> => {
    const others = (await list()).filter(({ issuer, resource }) => issuer !== grant.issuer || resource !== grant.resource)
    await save(folder, file, [...others, grant])
  }
  return {
    file,
    find,
    keep: (grant) => locked(() => replace(grant)),
    forget: (address) =>
      locked(async () => {
        const resource = resourceOf(address)
        const all = await list()
        const gone = all.filter((grant) => grant.resource === resource)
        if (gone.length > 0)
          await save(
            folder,
            file,
            all.filter((grant) => grant.resource !== resource),
          )
        return gone
      }),
    renew: (grant, work) =>
      locked(async () => {
        const current = await find(grant.resource)
        if (current === undefined || current.tokens.access !== grant.tokens.access) return current
        const tokens = await work(current)
        if (tokens === undefined) {
          const all = await list()
          await save(
            folder,
            file,
            all.filter(({ id }) => id !== current.id),
          )
          return undefined
        }
        const renewed = { ...current, tokens }
        await replace(renewed)
        return renewed
      }),
  }
}

async function unsafe(file: string): Promise<string | undefined> {
  if (process.platform === 'win32') return undefined
  const { mode, uid } = await stat(file)
  if (uid !== process.getuid?.()) return 'It belongs to another user.'
  return (mode & 0o077) === 0 ? undefined : 'Others may read it; run chmod 600 on it, or sign in again.'
}

function grantsIn(text: string): readonly Grant[] | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isRecord(value) || value.format !== format || value.version !== version || !Array.isArray(value.grants)) return undefined
  return value.grants.filter(isGrant)
}

const isGrant = (value: unknown): value is Grant =>
  isRecord(value) &&
  [value.id, value.issuer, value.resource, value.redirect, value.authorizationServer].every((each) => typeof each === 'string') &&
  isRecord(value.client) &&
  typeof value.client.client_id === 'string' &&
  isRecord(value.tokens) &&
  typeof value.tokens.access === 'string'

const save = (folder: string, file: string, grants: readonly Grant[]): Promise<void> =>
  writePrivate(folder, file, { format, version, grants })
