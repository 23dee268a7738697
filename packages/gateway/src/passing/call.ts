import type { CallResult } from '@unfold-mcp/client'
import type { PassingCall, PassingResult } from '../middleware/chain.ts'
import type { UpstreamCall } from '../upstreams/upstream.ts'
import type { Upstreams } from '../upstreams/upstreams.ts'

/** Calls the tool of an upstream for a client: progress and cancellation pass through, and what it answers comes back as it is. */
export async function passOn(upstreams: Upstreams, { upstream, tool, input, ctx }: PassingCall): Promise<PassingResult> {
  const onProgress: UpstreamCall['onProgress'] = ({ progress, total, message }) => {
    ctx.progress(progress, total, message).catch(() => undefined)
  }
  return resultOf(await upstreams.call(upstream, tool, input, { signal: ctx.signal, onProgress }))
}

function resultOf({ content, structuredContent, isError, _meta }: CallResult): PassingResult {
  return {
    content: [...content],
    ...(structuredContent !== undefined && { structuredContent: structuredContent as Record<string, unknown> }),
    ...(isError && { isError }),
    ...(_meta !== undefined && { _meta }),
  }
}
