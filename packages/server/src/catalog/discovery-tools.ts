import type { Surface, Tool, ToolAnnotations } from '@unfold-mcp/core'
import { lazyJsonCheck } from '../schema/schema.ts'
import type { ToolEntry } from '../tool/entry.ts'
import { alwaysLoad } from '../tool/host-hints.ts'
import { type Reader, surfaceSource } from './activators.ts'
import type { Kind } from './call-variants.ts'
import { withLists } from './list-argument.ts'

/** Adds the groups that this reader may know of to the description. `listsCode`: whether scripts are listed, which need signatures. */
export function describedFor(entry: ToolEntry, reader: Reader, listsCode: boolean): ToolEntry {
  if (entry === describe) return listsCode ? describe : describeDefinitions
  if (entry.source !== surfaceSource || (entry.surface !== 'search' && entry.surface !== 'manage')) return entry
  if (reader.groups.size === 0) return entry
  const groups = `Groups: ${aFew([...reader.groups])}.`
  return { ...entry, tool: { ...entry.tool, description: `${entry.tool.description} ${groups}` } }
}

// Discovery tools are part of every request, so the group names in them have a fixed budget.
const mostNames = 8
const mostCharacters = 112

function aFew(names: readonly string[]): string {
  const shown: string[] = []
  for (const name of names.slice(0, mostNames)) {
    if (shown.length > 0 && [...shown, name].join(', ').length > mostCharacters) break
    shown.push(name)
  }
  const rest = names.length - shown.length
  return `${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}

// Arguments that may also be a single name or the JSON text of an array.
/** The most matches that one search returns. */
export const maxMatches = 50

const listNames = ['tools', 'tags', 'names']

const looking = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false } as const
const text = { type: 'string' } as const
const texts = { type: 'array', items: text } as const

const manage = entryOf('manage', {
  name: 'manage_tools',
  title: 'Manage tools',
  description:
    'Choose which tools are listed. list: all tools. search: find tools. describe: full definitions. enable, disable: tools or groups. reset: the initial list. status: what is listed, and why.',
  annotations: looking,
  inputSchema: {
    type: 'object',
    properties: {
      action: { enum: ['list', 'search', 'describe', 'enable', 'disable', 'reset', 'status'] },
      tools: { anyOf: [text, texts], description: 'Names of tools or groups' },
      query: { ...text, description: 'App, verb and object' },
      group: text,
      tag: text,
      cursor: text,
    },
    required: ['action'],
  },
})

const search = entryOf('search', {
  name: 'search_tools',
  title: 'Search tools',
  description:
    'Find tools by what they do. Name the app, the verb and the object: "github create issue". An empty query lists all tools.',
  annotations: looking,
  inputSchema: {
    type: 'object',
    properties: {
      query: text,
      limit: { type: 'integer', description: `Default: 5, at most ${maxMatches}` },
      detail: { enum: ['names', 'signatures', 'full'] },
      group: text,
      tags: texts,
      readOnly: { type: 'boolean' },
    },
    required: ['query'],
  },
})

const describe = entryOf('search', {
  name: 'describe_tools',
  title: 'Describe tools',
  description: 'The full definitions of tools, by name.',
  annotations: looking,
  inputSchema: { type: 'object', properties: { names: texts, as: { enum: ['typescript'] } }, required: ['names'] },
})

/** Without `as`, which only scripts need: every request of every client contains this definition. */
const describeDefinitions: ToolEntry = {
  ...describe,
  tool: { ...describe.tool, inputSchema: { type: 'object', properties: { names: texts }, required: ['names'] } },
}

const kinds: { readonly [K in Kind]: { readonly description: string; readonly annotations: ToolAnnotations } } = {
  read: { description: 'Call a tool that only reads, by name', annotations: { readOnlyHint: true, openWorldHint: true } },
  write: {
    description: 'Call a tool that changes things, by name',
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
  },
  destructive: {
    description: 'Call a tool that may destroy things, by name',
    annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
  },
}

function caller(kind: Kind | undefined): ToolEntry {
  return entryOf(kind === undefined ? 'call' : 'call-variants', {
    name: kind === undefined ? 'call_tool' : `call_tool_${kind}`,
    title: kind === undefined ? 'Call a tool' : `Call a tool (${kind})`,
    description: `${kind === undefined ? 'Call any tool by name, listed or not' : kinds[kind].description}. Find it with search_tools first.`,
    annotations: kind === undefined ? { openWorldHint: true } : kinds[kind].annotations,
    inputSchema: {
      type: 'object',
      properties: { name: text, arguments: { type: 'object' } },
      required: ['name'],
    },
  })
}

// The catalogue is not part of the description: it would change, and with it the prompt cache of every client.
const runCode = entryOf('code', {
  name: 'run_code',
  title: 'Run code',
  description:
    'Run TypeScript that calls tools: const issue = await tools.github.create_issue({ … }), or tools["exact name"]({ … }). Also: await search(query), await describe([name]), input, console.log. Failed calls throw. Return only what you need.',
  annotations: { openWorldHint: true },
  inputSchema: {
    type: 'object',
    properties: {
      code: { ...text, description: 'Top-level await and return are allowed' },
      input: { type: 'object', description: 'Available as input' },
    },
    required: ['code'],
  },
})

/** Tools that find, describe, enable and call others, or run scripts; they work in every client. */
export const stableSurface: readonly ToolEntry[] = [
  manage,
  search,
  describe,
  caller(undefined),
  caller('read'),
  caller('write'),
  caller('destructive'),
  runCode,
]

function entryOf(surface: Surface, tool: Tool): ToolEntry {
  const check = lazyJsonCheck(tool.name, tool.inputSchema)
  return {
    tool: { ...tool, _meta: alwaysLoad },
    surface,
    origin: 'surface',
    source: surfaceSource,
    visibility: {},
    tags: [],
    aliases: [],
    input: { json: tool.inputSchema, check: (value) => check(withLists(value, listNames)) },
    handler: () => undefined,
    isDiscovery: true,
  }
}
