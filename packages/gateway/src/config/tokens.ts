import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { TokenRecord } from './schema.ts'

// Whoever finds one in a file or a log can see whose it is, and so can programs that look for secrets.
const prefix = 'unf_'
const form = /^unf_[A-Za-z0-9_-]{43}$/u

/** A token that was just made. `token` is shown once; `record` is what the configuration keeps. */
export interface CreatedToken {
  readonly token: string
  readonly record: TokenRecord
}

/** Makes a token of 256 random bits. */
export function createToken(name: string, profile?: string, random: (size: number) => Uint8Array = randomBytes): CreatedToken {
  const token = `${prefix}${Buffer.from(random(32)).toString('base64url')}`
  return { token, record: { name, hash: hashOf(token), ...(profile !== undefined && { profile }) } }
}

/**
 * The record of a token, if there is one. Takes as long whichever it is, and however much of it is right.
 *
 * The hash is fast and has no salt, on purpose. Slow hashes and salts protect secrets that can be guessed or that two people may
 * choose alike; 256 random bits are neither, and a slow hash at every request would only make it easy to keep us busy.
 */
export function verifyToken(presented: string, records: readonly TokenRecord[]): TokenRecord | undefined {
  const isToken = form.test(presented)
  const digest = digestOf(isToken ? presented : prefix)
  let found: TokenRecord | undefined
  for (const record of records) {
    const kept = Buffer.from(record.hash.slice('sha256:'.length), 'hex')
    const isEqual = kept.length === digest.length && timingSafeEqual(kept, digest)
    if (isEqual && isToken) found = record
  }
  return found
}

/** What is kept of a token. */
export function hashOf(token: string): string {
  return `sha256:${digestOf(token).toString('hex')}`
}

const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest()
