import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server'
import type { Tool } from '@unfold-mcp/core'
import { callTool } from '../operations/calling/call-tool.ts'
import { listPage } from '../operations/list.ts'
import { groupStatuses } from '../runtime/groups.ts'
import { runtimeOf } from '../runtime/servable.ts'
import { viewOfUrl } from '../scope/url-view.ts'
import type { Era, GroupStatus } from '../tool/context.ts'
import type { Principal } from '../tool/principal.ts'

export interface ContextOptions {
  readonly era?: Era
  readonly principal?: Principal
  /** View in URL query syntax, such as `groups=files`. */
  readonly view?: string
}

/** One client of a toolbox, without a transport. */
export interface TestContext extends AsyncDisposable {
  /** Scope key, for `toolbox.activate(group, scope)`. */
  readonly scope: string
  /** Number of list changes that this client was notified of. */
  readonly listChanges: number
  tools(): readonly Tool[]
  toolNames(): readonly string[]
  list(cursor?: string): { readonly tools: readonly Tool[]; readonly nextCursor?: string }
  groups(): readonly GroupStatus[]
  call(name: string, args?: unknown): Promise<CallToolResult>
  close(): Promise<void>
}

let contexts = 0

/** Connects to a toolbox, an adopted server, or an instance of a decorated class. */
export async function testContext(
  served: object,
  { era = 'session', principal, view = '' }: ContextOptions = {},
): Promise<TestContext> {
  const runtime = runtimeOf(served)
  const scope = await runtime.scopes.open({
    key: `test:${++contexts}`,
    era,
    principal,
    view: viewOfUrl(new URLSearchParams(view)),
  })
  let listChanges = 0
  runtime.announcer.attach(scope, async () => {
    listChanges++
  })
  const close = (): Promise<void> => runtime.scopes.close(scope)
  return {
    scope: scope.key,
    get listChanges() {
      return listChanges
    },
    tools: () => listPage(runtime, scope).tools,
    toolNames: () => runtime.views.rendered(scope).tools.map((tool) => tool.name),
    list: (cursor) => listPage(runtime, scope, cursor),
    groups: () => groupStatuses(runtime, scope),
    async call(name, args = {}) {
      const result: CallToolResult | InputRequiredResult = await callTool(runtime, scope, { name, arguments: args })
      return result as CallToolResult
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}
