import { createHash } from 'node:crypto'

/** A name as part of a key. Session ids and names of clients do not appear in Redis. */
export const hashed = (name: string): string => createHash('sha256').update(name).digest('base64url')
