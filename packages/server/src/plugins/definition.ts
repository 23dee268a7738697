import { checkToolName, isRecord, type Tool } from '@unfold-mcp/core'
import { inputSchema, outputSchema } from '../schema/schema.ts'
import type { ToolContext } from '../tool/context.ts'
import { declared, type Keys } from '../tool/declared.ts'
import type { ToolEntry } from '../tool/entry.ts'
import type { HandlerResult } from '../tool/result.ts'
import type { PluginTool } from './define.ts'
import type { Loaded } from './process.ts'

const maxTools = 1_000

// Without `handler`, which stays in the plugin's process.
const pluginKeys: Keys<Omit<PluginTool, 'handler'> & Pick<Tool, '_meta'>> = {
  name: true,
  title: true,
  description: true,
  inputSchema: true,
  outputSchema: true,
  annotations: true,
  tags: true,
  group: true,
  timeoutMs: true,
  _meta: true,
}

export interface EntryOptions {
  readonly source: string
  readonly group: string | undefined
  readonly callTimeoutMs: number
  readonly call: (tool: string, input: unknown, ctx: ToolContext, timeoutMs: number) => Promise<HandlerResult>
}

/** Converts the definitions that a plugin sent into tool entries; throws on the first invalid one. */
export function toolEntries({ tools, group }: Loaded, options: EntryOptions): readonly ToolEntry[] {
  if (tools.length > maxTools) throw new Error(`it has ${tools.length} tools; the limit is ${maxTools}`)
  return tools.map((tool) => toolEntry(tool, { ...options, group: group ?? options.group }))
}

function toolEntry(definition: Record<string, unknown>, { source, group, callTimeoutMs, call }: EntryOptions): ToolEntry {
  const name = String(definition.name)
  checkToolName(name)
  declared(`tool "${name}"`, definition, pluginKeys)
  const input = inputSchema(name, optionalObject(definition.inputSchema, name, 'inputSchema'))
  const outputSource = optionalObject(definition.outputSchema, name, 'outputSchema')
  const output = outputSource === undefined ? undefined : outputSchema(name, outputSource)
  const timeoutMs = optionalTimeout(definition.timeoutMs, name) ?? callTimeoutMs
  const ownGroup = optionalString(definition.group, name, 'group') ?? group
  const title = optionalString(definition.title, name, 'title')
  const description = optionalString(definition.description, name, 'description')
  const annotations = optionalObject(definition.annotations, name, 'annotations')
  const _meta = optionalObject(definition._meta, name, '_meta')
  const tool: Tool = {
    name,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    inputSchema: input.json,
    ...(annotations !== undefined && { annotations }),
    ...(_meta !== undefined && { _meta }),
    ...(output !== undefined && { outputSchema: output.json }),
  }
  return {
    tool,
    origin: 'dynamic',
    source,
    visibility: ownGroup === undefined ? {} : { group: ownGroup },
    tags: stringArray(definition.tags, name),
    aliases: [],
    handler: (value: unknown, ctx: ToolContext) => call(name, value, ctx, timeoutMs),
    input,
    ...(output !== undefined && { output }),
    // A backstop: the plugin process enforces timeoutMs with an error that names the plugin.
    timeoutMs: timeoutMs + 5_000,
  }
}

function invalid(tool: string, field: string, expected: string): Error {
  return new Error(`the ${field} of tool "${tool}" must be ${expected}`)
}

function optionalString(value: unknown, tool: string, field: string): string | undefined {
  if (value === undefined || value === null || typeof value === 'string') return value ?? undefined
  throw invalid(tool, field, 'a string')
}

function optionalObject(value: unknown, tool: string, field: string): Record<string, unknown> | undefined {
  if (value === undefined || value === null) return undefined
  if (isRecord(value)) return value
  throw invalid(tool, field, 'an object')
}

function optionalTimeout(value: unknown, tool: string): number | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'number' && Number.isInteger(value) && value > 0 && value < 2 ** 31 - 5_001) return value
  throw invalid(tool, 'timeoutMs', 'a positive integer (milliseconds)')
}

function stringArray(value: unknown, tool: string): readonly string[] {
  if (value === undefined || value === null) return []
  if (Array.isArray(value) && value.every((tag) => typeof tag === 'string')) return value
  throw invalid(tool, 'tags', 'an array of strings')
}
