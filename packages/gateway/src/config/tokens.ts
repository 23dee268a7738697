import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Role, TokenRecord } from './schema.ts'

// A recognisable prefix, for people and for secret scanners.
const prefix = 'unf_'
const tokenPattern = /^unf_[A-Za-z0-9_-]{43}$/u

/** A new token. `token` is shown once; the configuration stores `record`. */
export interface CreatedToken {
  readonly token: string
  readonly record: TokenRecord
}

/** What a token gives access to: MCP, restricted to a profile, or the admin routes by role. */
export interface TokenAccess {
  readonly profile?: string | undefined
  readonly role?: Role | undefined
}

/** Creates a token of 256 random bits. `access`: what it is for, or only its profile. */
export function createToken(
  name: string,
  access: TokenAccess | string = {},
  random: (size: number) => Uint8Array = randomBytes,
): CreatedToken {
  const token = `${prefix}${Buffer.from(random(32)).toString('base64url')}`
  const { profile, role } = typeof access === 'string' ? { profile: access, role: undefined } : access
  const record = { name, hash: hashOf(token), ...(profile !== undefined && { profile }), ...(role !== undefined && { role }) }
  return { token, record }
}

/** True if MCP clients need a token. Tokens with a role are not for clients. */
export const hasClientTokens = (tokens: readonly TokenAccess[]): boolean => tokens.some(({ role }) => role === undefined)

/**
 * Finds the record of a token in constant time.
 *
 * The hash is deliberately fast and unsalted: slow, salted hashes protect guessable secrets, not 256 random bits, and a slow hash
 * per request would make denial of service easy.
 */
export function verifyToken(presented: string, records: readonly TokenRecord[]): TokenRecord | undefined {
  const isToken = tokenPattern.test(presented)
  const digest = digestOf(isToken ? presented : prefix)
  let match: TokenRecord | undefined
  for (const record of records) {
    const stored = Buffer.from(record.hash.slice('sha256:'.length), 'hex')
    const isEqual = stored.length === digest.length && timingSafeEqual(stored, digest)
    if (isEqual && isToken) match = record
  }
  return match
}

export function hashOf(token: string): string {
  return `sha256:${digestOf(token).toString('hex')}`
}

const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest()
