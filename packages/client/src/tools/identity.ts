import { hash } from 'node:crypto'
import { discovery, type IdentityBasis, identityOf, isRecord, metaKeys, type Sha256, type Tool } from '@unfold-mcp/core'
import { unwrapOutputSchema } from './output-wrapper.ts'

/** Identity of the list that this client would get now. */
export interface Identity {
  /** Hash of the tools. */
  readonly server_id: string
  readonly tools_count: number
  /** Version of the identity format. */
  readonly protocol_version: string
  /** Further data of the server. */
  readonly [field: string]: unknown
}

// Faster than a buffer from `hash`: short buffers made from text share their memory.
const sha256: Sha256 = (data) => Buffer.from(hash('sha256', data, 'hex'), 'hex')

/**
 * Computes the identity of tools; it is equal in both protocol eras. `undefined` for tools that cannot be written as canonical
 * JSON.
 */
export function identityOfTools(tools: readonly Tool[], basis?: IdentityBasis): string | undefined {
  try {
    return identityOf(tools.map(unwrapOutputSchema), sha256, basis)
  } catch {
    // Nested deeper than the stack, or a number that JSON cannot hold.
    return undefined
  }
}

/**
 * Tests an identity against tools: by their full definitions, as declared or as listed, or by their names and descriptions.
 */
export function isIdentityOf(identity: string, tools: readonly Tool[]): boolean {
  const expected = identity.toLowerCase()
  return [identityOfTools(tools), identityOfTools(tools, 'names'), listedIdentity(tools)].includes(expected)
}

function listedIdentity(tools: readonly Tool[]): string | undefined {
  try {
    return identityOf(tools, sha256)
  } catch {
    return undefined
  }
}

export const sameIdentity = (a: string | undefined, b: string | undefined): boolean =>
  a !== undefined && b !== undefined && a.toLowerCase() === b.toLowerCase()

/** Parses the result of `server/identity`. */
export function parseIdentity(value: unknown): Identity | undefined {
  if (!isRecord(value)) return undefined
  const { server_id: id, tools_count: count, protocol_version: version } = value
  if (!isIdentity(id) || typeof count !== 'number' || typeof version !== 'string') return undefined
  return { ...value, server_id: id, tools_count: count, protocol_version: version }
}

/** Returns the identity in a `tools/list` result. */
export function identityIn(result: unknown): string | undefined {
  const meta = isRecord(result) ? result._meta : undefined
  return claimIn(isRecord(meta) ? meta[metaKeys.identity] : undefined)
}

/** Returns the identity announced with the capabilities of a server. */
export function announcedIdentity(capabilities: unknown): string | undefined {
  const settings = settingsOf(capabilities)
  return claimIn(settings) ?? claimIn(settings?.identity)
}

/** The server supports `server/identity`. */
export function knowsIdentity(capabilities: unknown): boolean {
  return settingsOf(capabilities) !== undefined
}

function settingsOf(capabilities: unknown): Readonly<Record<string, unknown>> | undefined {
  const extensions = isRecord(capabilities) ? capabilities.extensions : undefined
  const settings =
    isRecord(extensions) && Object.hasOwn(extensions, discovery.extension) ? extensions[discovery.extension] : undefined
  return isRecord(settings) ? settings : undefined
}

function claimIn(value: unknown): string | undefined {
  const claim = isRecord(value) ? value.server_id : value
  return isIdentity(claim) ? claim : undefined
}

const maxIdentityLength = 200

const isIdentity = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= maxIdentityLength
