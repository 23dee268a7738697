import { checkToolName, isRecord, type Tool } from '@unfold-mcp/core'
import { inputSchema, outputSchema } from '../schema/schema.ts'
import type { ToolContext } from '../tool/context.ts'
import { declared, type Keys } from '../tool/declared.ts'
import type { ToolEntry } from '../tool/entry.ts'
import type { HandlerResult } from '../tool/result.ts'
import type { PluginTool } from './define.ts'
import type { Loaded } from './process.ts'

const mostTools = 1_000

// As JSON has them: the handler stays in the process of the plugin.
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
  /** Where the tools come from, for messages. */
  readonly source: string
  readonly group: string | undefined
  readonly callTimeoutMs: number
  readonly call: (tool: string, input: unknown, ctx: ToolContext, timeoutMs: number) => Promise<HandlerResult>
}

/** The tools that a plugin told us of, ready to be served; throws in words for what cannot be. */
export function entriesOf({ tools, group }: Loaded, options: EntryOptions): readonly ToolEntry[] {
  if (tools.length > mostTools) throw new Error(`it has ${tools.length} tools, and may have ${mostTools}`)
  return tools.map((tool) => entryOf(tool, { ...options, group: group ?? options.group }))
}

function entryOf(given: Record<string, unknown>, { source, group, callTimeoutMs, call }: EntryOptions): ToolEntry {
  const name = String(given.name)
  checkToolName(name)
  declared(`tool "${name}"`, given, pluginKeys)
  const { title, description, annotations, _meta } = given
  const input = inputSchema(name, fieldsIn(given.inputSchema, name, 'inputSchema'))
  const outputSource = fieldsIn(given.outputSchema, name, 'outputSchema')
  const output = outputSource === undefined ? undefined : outputSchema(name, outputSource)
  const timeoutMs = timeIn(given.timeoutMs, name) ?? callTimeoutMs
  const ownGroup = textIn(given.group, name, 'group') ?? group
  const shownTitle = textIn(title, name, 'title')
  const about = textIn(description, name, 'description')
  const hints = fieldsIn(annotations, name, 'annotations')
  const meta = fieldsIn(_meta, name, '_meta')
  const tool: Tool = {
    name,
    ...(shownTitle !== undefined && { title: shownTitle }),
    ...(about !== undefined && { description: about }),
    inputSchema: input.json,
    ...(hints !== undefined && { annotations: hints }),
    ...(meta !== undefined && { _meta: meta }),
    ...(output !== undefined && { outputSchema: output.json }),
  }
  return {
    tool,
    origin: 'dynamic',
    source,
    visibility: ownGroup === undefined ? {} : { group: ownGroup },
    tags: tagsIn(given.tags, name),
    aliases: [],
    handler: (value: unknown, ctx: ToolContext) => call(name, value, ctx, timeoutMs),
    input,
    ...(output !== undefined && { output }),
    // The plugin's own limit is the one whose message names it; this one is there should it fail.
    timeoutMs: timeoutMs + 5_000,
  }
}

function wrong(tool: string, field: string, wanted: string): Error {
  return new Error(`the ${field} of tool "${tool}" must be ${wanted}`)
}

function textIn(value: unknown, tool: string, field: string): string | undefined {
  if (value === undefined || value === null || typeof value === 'string') return value ?? undefined
  throw wrong(tool, field, 'a text')
}

function fieldsIn(value: unknown, tool: string, field: string): Record<string, unknown> | undefined {
  if (value === undefined || value === null) return undefined
  if (isRecord(value)) return value
  throw wrong(tool, field, 'an object')
}

function timeIn(value: unknown, tool: string): number | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'number' && Number.isInteger(value) && value > 0 && value < 2 ** 31 - 5_001) return value
  throw wrong(tool, 'timeoutMs', 'a whole number of milliseconds above 0')
}

function tagsIn(value: unknown, tool: string): readonly string[] {
  if (value === undefined || value === null) return []
  if (Array.isArray(value) && value.every((tag) => typeof tag === 'string')) return value
  throw wrong(tool, 'tags', 'a list of texts')
}
