import type { CallToolResult, Tool } from '@modelcontextprotocol/client'
import type { TestClient } from '@unfold-mcp/server/testing'

/** All that a reply says. */
export function textOf({ content }: Pick<CallToolResult, 'content'>): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
}

/** What a reply says when it reports a failure, and nothing when it does not. */
export function failureOf(result: CallToolResult): string | undefined {
  return result.isError === true ? textOf(result) : undefined
}

/** Which failure a reply reports, if it reports one. */
export function reasonOf(result: CallToolResult): unknown {
  return result.isError === true ? result._meta?.['io.github.unfold-mcp/reason'] : undefined
}

/** The sentence of ours that a reply begins with. */
export function noteOf({ content: [first] }: Pick<CallToolResult, 'content'>): string {
  return first?.type === 'text' ? first.text : ''
}

/** The document that a reply holds after our own sentence; fails for a reply that reports a failure. */
export function documentOf(result: CallToolResult): string {
  if (result.isError === true) throw new Error(textOf(result))
  const [, second] = result.content
  if (second?.type !== 'text') throw new Error(`There is no document in this reply: ${textOf(result)}`)
  return second.text
}

/** The data that a reply holds after our own sentence. */
export function dataOf(result: CallToolResult): Record<string, unknown> {
  return JSON.parse(documentOf(result)) as Record<string, unknown>
}

const by: { readonly [tool: string]: string } = { observe: 'what', analyze: 'target', generate: 'format', configure: 'action' }

/** The arguments that choose a mode of a tool. */
export function choosing(tool: string, mode: string): Record<string, string> {
  return { [by[tool] ?? 'mode']: mode }
}

/** The tools of a list, each with the modes that it offers. */
export type Modes = { readonly [tool: string]: readonly string[] | undefined }

/** What a client is offered now. */
export async function modesOf(client: TestClient): Promise<Modes> {
  return Object.fromEntries((await client.tools()).map((tool) => [tool.name, enumOf(tool)]))
}

/** What each tool of a list says beside its schema. */
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
