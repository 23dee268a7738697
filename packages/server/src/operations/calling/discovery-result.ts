import type { CallToolResult } from '@modelcontextprotocol/server'
import { metaKeys } from '@unfold-mcp/core'

/**
 * The result of a discovery tool. Everything a model needs is in the text: several hosts pass `structuredContent` to the model
 * instead of the text, so data for programs goes into `_meta`, which no host shows to a model.
 */
export function surfaceResult(text: string, data: Record<string, unknown>): CallToolResult {
  return { content: [{ type: 'text', text }], _meta: { [metaKeys.data]: data } }
}

/** The data for programs in the result of a discovery tool. */
export function replyData(result: { readonly _meta?: { readonly [key: string]: unknown } | undefined }): unknown {
  return result._meta?.[metaKeys.data]
}
