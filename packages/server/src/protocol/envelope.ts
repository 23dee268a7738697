import {
  CLIENT_CAPABILITIES_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  UnsupportedProtocolVersionError,
} from '@modelcontextprotocol/server'
import { Failure } from '@unfold-mcp/core'
import type { Params } from '../operations/operation.ts'
import { protocolError } from '../operations/protocol-error.ts'
import { statelessRevision } from './sdk-host.ts'

/** Every 2026-07-28 request states its protocol revision. */
export const hasEnvelope = ({ _meta }: Params): boolean =>
  typeof _meta === 'object' && _meta !== null && PROTOCOL_VERSION_META_KEY in _meta

/** Validates the envelope of a 2026-07-28 request over stdio; over HTTP the SDK checks it with the headers. */
export function envelopeError(
  params: Params,
): { readonly code: number; readonly message: string; readonly data: unknown } | undefined {
  const { [PROTOCOL_VERSION_META_KEY]: revision, [CLIENT_CAPABILITIES_META_KEY]: capabilities } = (params._meta ?? {}) as Params
  if (typeof revision !== 'string') return missing(PROTOCOL_VERSION_META_KEY)
  if (revision !== statelessRevision) {
    const { code, message, data } = new UnsupportedProtocolVersionError({ supported: [statelessRevision], requested: revision })
    return { code, message, data }
  }
  return typeof capabilities === 'object' && capabilities !== null ? undefined : missing(CLIENT_CAPABILITIES_META_KEY)
}

function missing(key: string): ReturnType<typeof envelopeError> {
  const problem = `_meta["${key}"] is missing or malformed; ${statelessRevision} requires it in every request`
  const { code, message, data } = protocolError(
    new Failure('invalid_params', `This request cannot be read: ${problem}.`, { problem }),
  )
  return { code, message, data }
}
