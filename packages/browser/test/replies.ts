import type { CallToolResult, Tool } from '@modelcontextprotocol/client'
import type { TestClient } from '@unfold-mcp/server/testing'

/** The complete text of a reply. */
export function textOf({ content }: Pick<CallToolResult, 'content'>): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
}

/** The text of a reply that reports a failure, else undefined. */
export function failureOf(result: CallToolResult): string | undefined {
  return result.isError === true ? textOf(result) : undefined
}

/** The failure reason of a reply, if it reports one. */
export function reasonOf(result: CallToolResult): unknown {
  return result.isError === true ? result._meta?.['io.github.unfold-mcp/reason'] : undefined
}

/** The server's own sentence at the beginning of a reply. */
export function noteOf({ content: [first] }: Pick<CallToolResult, 'content'>): string {
  return first?.type === 'text' ? first.text : ''
}

/** The document after the server's own sentence; throws for a reply that reports a failure. */
export function documentOf(result: CallToolResult): string {
  if (result.isError === true) throw new Error(textOf(result))
  const [, second] = result.content
  if (second?.type !== 'text') throw new Error(`There is no document in this reply: ${textOf(result)}`)
  return second.text
}

/** The data after the server's own sentence. */
export function dataOf(result: CallToolResult): Record<string, unknown> {
  return JSON.parse(documentOf(result)) as Record<string, unknown>
}

const by: { readonly [tool: string]: string } = { observe: 'what', analyze: 'target', generate: 'format', configure: 'action' }

/** The arguments that select a mode of a tool. */
export function choosing(tool: string, mode: string): Record<string, string> {
  return { [by[tool] ?? 'mode']: mode }
}

/** The tools of a list, each with its modes. */
export type Modes = { readonly [tool: string]: readonly string[] | undefined }

/** The current tools and modes of a client. */
export async function modesOf(client: TestClient): Promise<Modes> {
  return Object.fromEntries((await client.tools()).map((tool) => [tool.name, enumOf(tool)]))
}

/** The `_meta` of each tool of a list. */
export async function metaOf(client: TestClient): Promise<{ readonly [tool: string]: Tool['_meta'] }> {
  return Object.fromEntries((await client.tools()).map(({ name, _meta }) => [name, _meta]))
}

/** The counts of each tool of a list. */
export async function countsOf(client: TestClient): Promise<{ readonly [tool: string]: unknown }> {
  return Object.fromEntries(Object.entries(await metaOf(client)).map(([tool, meta]) => [tool, meta?.data_counts]))
}

function enumOf({ name, inputSchema }: Tool): readonly string[] | undefined {
  const properties = inputSchema.properties as { readonly [name: string]: { readonly enum?: readonly string[] } }
  return properties[by[name] ?? '']?.enum
}
