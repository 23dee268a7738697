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
  const optional = <T>(field: string, isValid: (value: unknown) => value is T, expected: string): T | undefined => {
    const value = definition[field] ?? undefined
    if (value === undefined || isValid(value)) return value
    throw new Error(`the ${field} of tool "${name}" must be ${expected}`)
  }
  const title = optional('title', isString, 'a string')
  const description = optional('description', isString, 'a string')
  const annotations = optional('annotations', isRecord, 'an object')
  const _meta = optional('_meta', isRecord, 'an object')
  const input = inputSchema(name, optional('inputSchema', isRecord, 'an object'))
  const outputSource = optional('outputSchema', isRecord, 'an object')
  const output = outputSource === undefined ? undefined : outputSchema(name, outputSource)
  const timeoutMs = optional('timeoutMs', isTimeout, 'a positive integer (milliseconds)') ?? callTimeoutMs
  const ownGroup = optional('group', isString, 'a string') ?? group
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
    tags: optional('tags', isStringArray, 'an array of strings') ?? [],
    aliases: [],
    handler: (value: unknown, ctx: ToolContext) => call(name, value, ctx, timeoutMs),
    input,
    ...(output !== undefined && { output }),
    // A backstop: the plugin process enforces timeoutMs with an error that names the plugin.
    timeoutMs: timeoutMs + 5_000,
  }
}

const isString = (value: unknown): value is string => typeof value === 'string'

const isStringArray = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isString)

const isTimeout = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 && value < 2 ** 31 - 5_001
