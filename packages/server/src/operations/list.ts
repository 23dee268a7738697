import { SERVER_INFO_META_KEY } from '@modelcontextprotocol/server'
import { metaKeys, pageOf, type Tool, toolTokens } from '@unfold-mcp/core'
import { rememberList } from '../runtime/list-identity.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Scope } from '../scope/scope.ts'
import { cacheHint } from './cache-hint.ts'
import { EncodedResult, type OwnRequest } from './operation.ts'
import { malformedList } from './params.ts'
import { sessionTool } from './session-tool.ts'

/** `tools/list`. */
export async function list(runtime: Runtime, scope: Scope, { params }: OwnRequest): Promise<object | EncodedResult> {
  const malformed = malformedList(params)
  if (malformed !== undefined) throw malformed
  const cursor = params.cursor as string | undefined
  if (cursor !== undefined || runtime.declaration.pageSize !== undefined)
    return { ...page(runtime, scope, cursor), ...rest(runtime, scope) }
  runtime.relists.noteList(scope)
  const view = runtime.views.withCounts(scope)
  scope.listed = view.fingerprint
  const isNatural = scope.settings.era === 'stateless' || view.tools.every((tool) => sessionTool(tool) === tool)
  if (runtime.declaration.listed !== undefined) reportList(runtime, scope, view.tokens)
  const tools = isNatural ? view.bytes : JSON.stringify(view.tools.map(sessionTool))
  const more = JSON.stringify(rest(runtime, scope))
  // Listing is the most frequent request, so the tools of a view are encoded once.
  return new EncodedResult(['{"tools":', tools, more === '{}' ? '}' : `,${more.slice(1)}`])
}

export function listPage(runtime: Runtime, scope: Scope, cursor?: string): { tools: Tool[]; nextCursor?: string } {
  runtime.relists.noteList(scope)
  const view = runtime.views.withCounts(scope)
  scope.listed = view.fingerprint
  const { items, nextCursor } = pageOf(view.tools, runtime.declaration.pageSize, view.fingerprint, cursor)
  return { tools: items as Tool[], ...(nextCursor !== undefined && { nextCursor }) }
}

function page(runtime: Runtime, scope: Scope, cursor?: string): { tools: Tool[]; nextCursor?: string } {
  const found = listPage(runtime, scope, cursor)
  if (runtime.declaration.listed !== undefined)
    reportList(
      runtime,
      scope,
      found.tools.reduce((sum, tool) => sum + toolTokens(tool), 0),
      cursor,
    )
  return scope.settings.era === 'session' ? { ...found, tools: found.tools.map(sessionTool) } : found
}

function reportList({ declaration, views }: Runtime, scope: Scope, tokens: number, cursor?: string): void {
  const { era, principal, host } = scope.settings
  const allTokens = cursor === undefined ? views.permitted(scope).tokens : 0
  declaration.listed?.({ era, principal, host: host?.profile.title, tokens, allTokens })
}

/** The identity of the list and, on 2026-07-28, its cache hint. */
function rest(runtime: Runtime, scope: Scope): object {
  const { _meta } = listMeta(runtime, scope)
  if (scope.settings.era === 'session') return _meta === undefined ? {} : { _meta }
  const { ttlMs, cacheScope } = cacheHint(runtime)
  return { resultType: 'complete', ttlMs, cacheScope, _meta: { ..._meta, [SERVER_INFO_META_KEY]: runtime.declaration.info } }
}

export function listMeta(runtime: Runtime, scope: Scope): { readonly _meta?: { readonly [key: string]: unknown } } {
  const identity = rememberList(runtime, scope)
  return identity === undefined ? {} : { _meta: { [metaKeys.identity]: identity } }
}
