import type { ClientCapabilities, InputRequiredResult } from '@modelcontextprotocol/server'
import type { CallResult } from '@unfold-mcp/client'
import type { PassingCall, PassingResult } from '../middleware/chain.ts'
import type { Upstreams } from '../upstreams/upstreams.ts'
import type { Exchanges } from './exchanges.ts'

export interface Passage {
  readonly upstreams: Upstreams
  readonly exchanges: Exchanges
  /** What the client of a session said it can be asked. */
  readonly capabilities: (scope: string) => ClientCapabilities | undefined
  /** The address under which clients read a resource of a server. */
  readonly address: (server: string, uri: string) => string
}

type Block = CallResult['content'][number]

/** Calls the tool of an upstream for a client: what it asks and says meanwhile passes through, and what it answers comes back. */
export function passOn(passage: Passage, { upstream, tool, input, client, ctx, trace }: PassingCall): Promise<PassingResult> {
  const { upstreams, exchanges, capabilities, address } = passage
  const asked = {
    server: upstream,
    what: `tools/call ${tool}`,
    client,
    era: ctx.era,
    mcp: ctx.mcp,
    capabilities: capabilities(ctx.scope),
    signal: ctx.signal,
    progress: ctx.progress,
  }
  return exchanges.pass<Exclude<PassingResult, InputRequiredResult>>(asked, async (relay, options) => {
    const result = await upstreams.call(upstream, tool, input, {
      ...options,
      relay,
      ...(trace !== undefined && { meta: { ...trace } }),
    })
    const { content, structuredContent, isError, _meta, inputRequired } = result
    if (inputRequired !== undefined) return inputRequired
    return {
      content: content.map((block) => readdressed(block, (uri) => address(upstream, uri))),
      ...(structuredContent !== undefined && { structuredContent: structuredContent as Record<string, unknown> }),
      ...(isError && { isError }),
      ...(_meta !== undefined && { _meta }),
    }
  })
}

/** A resource is named by the address under which the client can read it. */
function readdressed(block: Block, address: (uri: string) => string): Block {
  if (block.type === 'resource_link' && typeof block.uri === 'string') return { ...block, uri: address(block.uri) }
  if (block.type !== 'resource' || typeof block.resource?.uri !== 'string') return block
  return { ...block, resource: { ...block.resource, uri: address(block.resource.uri) } }
}
