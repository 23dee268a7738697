import { isRecord } from '../base/record.ts'

/** JSON Schema of a tool. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/** MCP tool annotations: hints, not permissions. */
export interface ToolAnnotations {
  readonly title?: string
  readonly readOnlyHint?: boolean
  readonly destructiveHint?: boolean
  readonly idempotentHint?: boolean
  readonly openWorldHint?: boolean
}

/** Tool definition in a `tools/list` result. */
export interface Tool {
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly inputSchema: JsonSchema & { readonly type: 'object' }
  readonly outputSchema?: JsonSchema
  readonly annotations?: ToolAnnotations
  readonly icons?: readonly { readonly src: string; readonly mimeType?: string; readonly sizes?: readonly string[] }[]
  readonly execution?: JsonSchema
  readonly _meta?: { readonly [key: string]: unknown }
}

/** Classifies a tool by its annotations; without any it may write. */
export function facetOf(tool: Tool): 'read-only' | 'destructive' | 'write' {
  if (tool.annotations?.readOnlyHint === true) return 'read-only'
  return tool.annotations?.destructiveHint === true ? 'destructive' : 'write'
}

/** Tests a tool from outside for the fields that everything else relies on. */
export const isTool = (value: unknown): value is Tool =>
  isRecord(value) && typeof value.name === 'string' && value.name !== '' && isRecord(value.inputSchema)
