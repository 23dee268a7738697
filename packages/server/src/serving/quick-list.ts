import { PROTOCOL_VERSION_META_KEY, SERVER_INFO_META_KEY, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server'
import type { Runtime } from '../runtime/runtime.ts'
import type { Scope } from '../runtime/scope.ts'
import { listMeta } from './discovery.ts'
import type { Exchange, WholeReply } from './exchange.ts'
import { cacheHint, statelessRevision } from './protocol.ts'

interface ListRequest {
  readonly id: string | number
  readonly params?: { readonly _meta?: { readonly [key: string]: unknown } }
}

/** A plain `tools/list` for the first page, the request that every client makes most. Anything out of the ordinary is not one. */
export function isListRequest(body: unknown): body is ListRequest {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return false
  const { jsonrpc, method, id, params } = body as { jsonrpc?: unknown; method?: unknown; id?: unknown; params?: unknown }
  if (jsonrpc !== '2.0' || method !== 'tools/list' || (typeof id !== 'string' && !Number.isInteger(id))) return false
  if (params === undefined) return true
  if (typeof params !== 'object' || params === null || Array.isArray(params)) return false
  const { _meta } = params as { _meta?: unknown }
  return (
    Object.keys(params).every((key) => key === '_meta') && (_meta === undefined || (typeof _meta === 'object' && _meta !== null))
  )
}

/** Whether the SDK would take this message of a session as its headers are. */
export function isWelcome(exchange: Exchange): boolean {
  const accept = exchange.header('accept')
  if (accept?.includes('application/json') !== true || !accept.includes('text/event-stream')) return false
  const version = exchange.header('mcp-protocol-version')
  return version === undefined || SUPPORTED_PROTOCOL_VERSIONS.includes(version)
}

/**
 * The same bytes the SDK would answer with, put together from what was encoded when the view was made. `undefined` leaves the
 * request to the SDK: whatever it would refuse or treat differently.
 */
export function quickSessionList(runtime: Runtime, scope: Scope, exchange: Exchange, body: ListRequest): WholeReply | undefined {
  if (!isWelcome(exchange) || runtime.declaration.pageSize !== undefined || scope.product !== undefined) return undefined
  runtime.listed(scope)
  const shown = runtime.views.listed(scope)
  // Session-era clients cannot read an output schema whose root is no object; the SDK rewrites those.
  if (shown.tools.some((tool) => tool.outputSchema !== undefined && tool.outputSchema.type !== 'object')) return undefined
  const { _meta } = listMeta(runtime, scope)
  const rest = _meta === undefined ? '' : `,"_meta":${JSON.stringify(_meta)}`
  return json('{"result":{"tools":', shown.bytes, `${rest}},"jsonrpc":"2.0","id":${JSON.stringify(body.id)}}`)
}

export function quickStatelessList(
  runtime: Runtime,
  scope: Scope,
  exchange: Exchange,
  body: ListRequest,
): WholeReply | undefined {
  const claimed = body.params?._meta?.[PROTOCOL_VERSION_META_KEY]
  const { pageSize, info } = runtime.declaration
  if (claimed !== statelessRevision || pageSize !== undefined || scope.product !== undefined) return undefined
  if (exchange.header('mcp-protocol-version') !== claimed || exchange.header('mcp-method') !== 'tools/list') return undefined
  const { ttlMs, cacheScope } = cacheHint(runtime)
  const own = listMeta(runtime, scope)._meta
  const meta = `"_meta":${JSON.stringify({ ...own, [SERVER_INFO_META_KEY]: info })}`
  const { bytes } = runtime.views.listed(scope)
  const hints = `"resultType":"complete","ttlMs":${ttlMs},"cacheScope":"${cacheScope}"`
  // The SDK writes what a handler gave before what it adds itself.
  const rest = own === undefined ? `${hints},${meta}` : `${meta},${hints}`
  return json('{"result":{"tools":', bytes, `,${rest}},"jsonrpc":"2.0","id":${JSON.stringify(body.id)}}`)
}

const json = (...parts: WholeReply['parts']): WholeReply => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  parts,
})
