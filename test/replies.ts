import type { CallToolResult } from '@modelcontextprotocol/client'
import { ProtocolError } from '@modelcontextprotocol/client'
import type { Reason } from '@unfold-mcp/server'

/** What a result says in words. */
export function textOf(result: Pick<CallToolResult, 'content'>): string {
  return result.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
}

/** Which failure a result reports, if it reports one. */
export function reasonOf(result: CallToolResult): Reason | undefined {
  return result.isError === true ? (result._meta?.['io.github.unfold-mcp/reason'] as Reason | undefined) : undefined
}

/** How a request was refused; fails when it was not. */
export async function refusalOf(
  request: Promise<unknown>,
): Promise<{ readonly code: number; readonly reason: Reason; readonly message: string }> {
  const error = await request.then(
    () => new Error('It was not refused.'),
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof ProtocolError)) throw error
  return { code: error.code, reason: (error.data as { reason: Reason }).reason, message: error.message }
}
