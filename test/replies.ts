import type { CallToolResult } from '@modelcontextprotocol/client'
import { ProtocolError } from '@modelcontextprotocol/client'
import type { Reason } from '@unfold-mcp/server'

/** Returns the text of a result. */
export function textOf(result: Pick<CallToolResult, 'content'>): string {
  return result.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
}

/** Returns the failure reason of a result, if any. */
export function reasonOf(result: CallToolResult): Reason | undefined {
  return result.isError === true ? (result._meta?.['io.github.unfold-mcp/reason'] as Reason | undefined) : undefined
}

/** Returns the error of a rejected request; throws if the request succeeds. */
export async function refusalOf(
  request: Promise<unknown>,
): Promise<{ readonly code: number; readonly reason: Reason; readonly message: string }> {
  const error = await request.then(
    () => new Error('The request was not rejected.'),
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof ProtocolError)) throw error
  return { code: error.code, reason: (error.data as { reason: Reason }).reason, message: error.message }
}
