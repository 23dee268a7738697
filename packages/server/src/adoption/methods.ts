import type { CacheHint, Server, ServerContext, StandardSchemaV1 } from '@modelcontextprotocol/server'
import { discovery, isFailure } from '@unfold-mcp/core'
import type { Call } from '../operations/calling/call.ts'
import { callTool } from '../operations/calling/call-tool.ts'
import { inputResponsesIn } from '../operations/calling/input-required.ts'
import { changes } from '../operations/changes.ts'
import { describe } from '../operations/describe.ts'
import { identity } from '../operations/identity.ts'
import { listMeta, listPage } from '../operations/list.ts'
import type { Params } from '../operations/operation.ts'
import { outputSchemaOf } from '../operations/output-schema.ts'
import { protocolError } from '../operations/protocol-error.ts'
import { SdkPort } from '../protocol/sdk-port.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Scope } from '../scope/scope.ts'
import { isInputRequired } from '../tool/result.ts'

/** Registers our own methods on an adopted server, whose requests the SDK dispatches. */
export function registerOwnMethods(runtime: Runtime, scope: Scope, server: Server, hint: CacheHint = {}): void {
  const upToDate = (): Promise<void> | undefined => scope.scopedServer?.upToDate()
  server.setRequestHandler('tools/list', async (request) => {
    await upToDate()
    return withProtocolErrors(async () => {
      const list = listPage(runtime, scope, request.params?.cursor)
      runtime.announcer.markKnown(scope)
      return { ...list, ...listMeta(runtime, scope), ...hint } as never
    })
  })
  server.setRequestHandler('tools/call', async ({ params: { name, arguments: args } }, ctx: ServerContext) => {
    const result = await withProtocolErrors(() => callTool(runtime, scope, toCall(name, args, ctx)))
    return isInputRequired(result) ? result : server.projectCallToolResult(result, outputSchemaOf(runtime, scope, name))
  })
  if (runtime.declaration.identity === false) return
  for (const [method, operation] of [
    [discovery.methods.identity, identity],
    [discovery.methods.describe, describe],
    [discovery.methods.changes, changes],
  ] as const) {
    server.setRequestHandler(method, { params: anyObject }, async (params, ctx) => {
      await upToDate()
      const request = {
        id: ctx.mcpReq.id,
        params,
        client: new SdkPort(ctx),
        controller: new AbortController(),
        revision: server.getNegotiatedProtocolVersion(),
      }
      return withProtocolErrors(async () => (await operation(runtime, scope, request)) as Params)
    })
  }
}

export function toCall(name: string, args: unknown, ctx: ServerContext): Call {
  const { id, _meta: meta, envelope, signal, inputResponses } = ctx.mcpReq
  const state: unknown = ctx.mcpReq.requestState()
  const { req } = ctx.http ?? {}
  return {
    id,
    name,
    ...(args !== undefined && { arguments: args }),
    meta,
    envelope,
    signal,
    inputResponses: inputResponsesIn(inputResponses),
    requestState: typeof state === 'string' ? state : undefined,
    client: new SdkPort(withRelatedRequest(ctx)),
    ...(req !== undefined && { http: () => req }),
  }
}

// Without a related request the SDK sends these on the standalone stream. If that is not open they are lost and the call hangs.
function withRelatedRequest(ctx: ServerContext): ServerContext {
  const { id, elicitInput, requestSampling } = ctx.mcpReq
  return {
    ...ctx,
    mcpReq: {
      ...ctx.mcpReq,
      elicitInput: (params, options) => elicitInput(params, { relatedRequestId: id, ...options }),
      requestSampling: (params, options) => requestSampling(params, { relatedRequestId: id, ...options }),
    },
  }
}

export const sdkContextOf = (client: unknown): ServerContext | undefined =>
  client instanceof SdkPort ? client.context : undefined

/** Accepts params of any shape; the operations validate them. */
const anyObject: StandardSchemaV1<unknown, Params> = {
  '~standard': { version: 1, vendor: 'unfold', validate: (value) => ({ value: (value ?? {}) as Params }) },
}

/** Converts failures to protocol errors. */
export async function withProtocolErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw isFailure(error) ? protocolError(error) : error
  }
}
