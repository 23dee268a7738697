import { hash } from 'node:crypto'
import { discovery, type IdentityBasis, identityOf, isRecord, metaKeys, type Sha256, type Tool } from '@unfold-mcp/core'
import { unwrapped } from './wrapping.ts'

/** What a server says of the list that this client would get now. */
export interface Identity {
  /** The same for the same tools, and another for others. */
  readonly server_id: string
  readonly tools_count: number
  /** The version of identity itself, not of the protocol. */
  readonly protocol_version: string
  /** What else a server says of itself. */
  readonly [field: string]: unknown
}

// Text and back is faster than a buffer from the engine: short ones made here share their memory.
const sha256: Sha256 = (data) => Buffer.from(hash('sha256', data, 'hex'), 'hex')

/**
 * The identity of these tools, computed here: the same in both eras. `undefined` for tools that cannot be written as
 * canonical JSON.
 */
export function identityOfTools(tools: readonly Tool[], basis?: IdentityBasis): string | undefined {
  try {
    return identityOf(tools.map(unwrapped), sha256, basis)
  } catch {
    // Nested deeper than the stack, or a number that JSON cannot hold.
    return undefined
  }
}

/**
 * Whether an identity is that of these tools: by their whole definitions, as their author declared them or as they are
 * listed, or by their names and descriptions.
 */
export function isIdentityOf(identity: string, tools: readonly Tool[]): boolean {
  const wanted = identity.toLowerCase()
  return identityOfTools(tools) === wanted || identityOfTools(tools, 'names') === wanted || listedIdentity(tools) === wanted
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

/** The answer to `server/identity`, or `undefined` when it is none. */
export function parseIdentity(value: unknown): Identity | undefined {
  if (!isRecord(value)) return undefined
  const { server_id: id, tools_count: count, protocol_version: version } = value
  if (!isIdentity(id) || typeof count !== 'number' || typeof version !== 'string') return undefined
  return { ...value, server_id: id, tools_count: count, protocol_version: version }
}

/** The identity in the result of a list, if it is there. */
export function identityIn(result: unknown): string | undefined {
  const meta = isRecord(result) ? result._meta : undefined
  return claimIn(isRecord(meta) ? meta[metaKeys.identity] : undefined)
}

/** The identity that a server announces with its capabilities, if it does. */
export function announcedIdentity(capabilities: unknown): string | undefined {
  const settings = settingsOf(capabilities)
  return claimIn(settings) ?? claimIn(settings?.identity)
}

/** Whether a server answers `server/identity`. */
export function knowsIdentity(capabilities: unknown): boolean {
  return settingsOf(capabilities) !== undefined
}

/** What a server announces about the extension: `undefined` when it does not have it. */
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

const longest = 200

const isIdentity = (value: unknown): value is string => typeof value === 'string' && value !== '' && value.length <= longest
