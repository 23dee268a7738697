import { confusableNames, metaKeys, printable, type Tool, unambiguous } from '@unfold-mcp/core'
import { type HandlerResult, inputSchema, outputSchema, type ToolContext, type ToolEntry } from '@unfold-mcp/server'
import type { ServerConfig } from '../config/schema.ts'
import { exposedName, serverSlug } from '../names/naming.ts'
import { reservedNames } from '../names/reserved.ts'
import { sanitizeTool } from './definition.ts'
import { type Overrides, readOverrides } from './overrides.ts'

/** Calls a tool by its name on the upstream. */
export type CallUpstream = (tool: string, input: unknown, ctx: ToolContext) => HandlerResult | Promise<HandlerResult>

export interface EntriesOptions {
  readonly server: string
  readonly config: Pick<ServerConfig, 'tools' | 'allow' | 'deny' | 'timeoutMs'>
  readonly call: CallUpstream
  /** Maximum number of tools. */
  readonly limit: number
  /** Whether they are stored scripts. */
  readonly areScripts?: boolean
}

/** Something the operator should know about a tool. */
export interface ToolNote {
  /** Name of the tool on the upstream, escaped; empty if the note concerns the upstream. */
  readonly tool: string
  readonly kind: 'left_out' | 'changed' | 'warning'
  readonly message: string
}

/** Entries of one upstream. */
export interface UpstreamEntries {
  readonly entries: readonly ToolEntry[]
  /** Exposed name to name on the upstream. */
  readonly names: ReadonlyMap<string, string>
  /** Names on the upstream. */
  readonly originalNames: ReadonlySet<string>
  readonly notes: readonly ToolNote[]
  /** Result for each definition, by its JSON; reused for unchanged tools. */
  readonly built: ReadonlyMap<string, BuiltEntry>
  readonly options: EntriesOptions
}

interface BuiltEntry {
  readonly entry: ToolEntry | undefined
  readonly notes: readonly ToolNote[]
  /** The upstream's definition before sanitizing, without fields that the configuration overrides. */
  readonly original?: object
}

// The connection enforces the call timeout because it sees progress. This is a backstop.
const maxCallMs = 600_000

/**
 * Builds the entries of an upstream. An invalid tool is omitted with a note. Unchanged tools keep the entry object of `before`, so
 * nothing is recomputed for them.
 */
export function upstreamEntries(tools: readonly Tool[], options: EntriesOptions, before?: UpstreamEntries): UpstreamEntries {
  const { limit, config } = options
  const overrides = readOverrides(config)
  const reusable = before?.options === options ? before.built : undefined
  const built = new Map<string, BuiltEntry>()
  const names = new Map<string, string>()
  const entries: ToolEntry[] = []
  const notes: ToolNote[] = []
  for (const tool of tools.slice(0, limit)) {
    const text = jsonOf(tool)
    const result = reusable?.get(text) ?? buildEntry(tool, text, options, overrides)
    built.set(text, result)
    notes.push(...result.notes)
    if (result.entry === undefined) continue
    const { name } = result.entry.tool
    const other = names.get(name)
    if (other === undefined) {
      names.set(name, tool.name)
      entries.push(result.entry)
    } else
      notes.push(
        omitted(tool.name, other === tool.name ? 'it is listed twice' : `it has the same exposed name as "${printable(other)}"`),
      )
  }
  if (tools.length > limit)
    notes.push({ tool: '', kind: 'left_out', message: `Only the first ${limit} of ${tools.length} tools are used.` })
  for (const message of overrides.unknownTools(new Set(tools.map(({ name }) => name))))
    notes.push({ tool: '', kind: 'warning', message })
  notes.push(...similarNames(names))
  return { entries, names, originalNames: new Set(names.values()), notes, built, options }
}

/** Warns of names that are easily confused: as clients see them, or as the server has them. */
function similarNames(names: ReadonlyMap<string, string>): readonly ToolNote[] {
  const exposed = confusableNames([...names.keys(), ...reservedNames])
  const reported = new Set(exposed.flat().map((name) => names.get(name)))
  // The exposed name of a name that clients would not accept has a hash, so it resembles no other.
  const own = confusableNames(names.values()).filter((similar) => !similar.every((name) => reported.has(name)))
  return [
    ...exposed.map((similar) => noteOf(similar[0] ?? '', similar.slice(0, 5))),
    ...own.map((similar) =>
      noteOf(
        printable(similar[0] ?? ''),
        similar.slice(0, 5).map((name) => unambiguous(name)),
      ),
    ),
  ]
}

const noteOf = (tool: string, similar: readonly string[]): ToolNote => ({
  tool,
  kind: 'warning',
  message: `Similar tool names: ${similar.join(', ')}.`,
})

function buildEntry(tool: Tool, text: string, options: EntriesOptions, overrides: Overrides): BuiltEntry {
  const { server, config, call, areScripts = false } = options
  if (text === '') return { entry: undefined, notes: [omitted(tool.name, 'its definition is nested too deeply')] }
  const sanitized = sanitizeTool(tool, text)
  if ('problem' in sanitized) return { entry: undefined, notes: [omitted(tool.name, sanitized.problem)] }
  const { name } = sanitized.tool
  if (!overrides.isEnabled(name)) return { entry: undefined, notes: [] }
  const slug = serverSlug(server)
  const override = overrides.of(name)
  const exposed: Tool = {
    ...(areScripts ? withoutCode(sanitized.tool) : sanitized.tool),
    name: override.name ?? exposedName(slug, name),
    ...(override.description !== undefined && { description: override.description }),
  }
  const entry: ToolEntry = {
    tool: exposed,
    // Makes the library keep the first of two upstreams that claim one name and report the conflict.
    origin: 'dynamic',
    source: server,
    visibility: { group: slug },
    tags: [],
    aliases: [],
    ...(override.pinned === true && { pinned: true }),
    ...(areScripts ? scriptParts(exposed) : upstreamParts(exposed, config)),
    handler: (input: unknown, ctx: ToolContext) => call(name, input, ctx),
  }
  const notes = sanitized.notes.map(
    (note): ToolNote => ({ tool: printable(name), kind: 'changed', message: `Tool "${printable(name)}": ${note}.` }),
  )
  const { description, ...rest } = tool
  return { entry, notes, original: override.description === undefined ? { ...rest, description } : rest }
}

/** The upstream validates arguments; its patterns are never run here. */
const upstreamParts = ({ inputSchema: json }: Tool, { timeoutMs }: EntriesOptions['config']): EntryParts => ({
  timeoutMs: Math.max(timeoutMs, maxCallMs) + 10_000,
  input: { json, check: (value) => ({ value }) },
})

/** A script has limits of its own, and nobody else checks its arguments and its result. */
const scriptParts = ({ name, inputSchema: input, outputSchema: output }: Tool): EntryParts => ({
  runsScript: true,
  timeoutMs: maxTimerMs,
  input: inputSchema(name, input),
  ...(output !== undefined && { output: outputSchema(name, output) }),
})

type EntryParts = Pick<ToolEntry, 'input' | 'output' | 'timeoutMs' | 'runsScript'>

// The longest timer of Node.
const maxTimerMs = 2_147_483_647

function withoutCode({ _meta, ...tool }: Tool): Tool {
  const { [metaKeys.code]: _code, ...meta } = _meta ?? {}
  return { ...tool, ...(Object.keys(meta).length > 0 && { _meta: meta }) }
}

/** The code of a stored script, in its definition. */
export function codeIn({ _meta }: Tool): string | undefined {
  const code = _meta?.[metaKeys.code]
  return typeof code === 'string' ? code : undefined
}

function omitted(tool: unknown, reason: string): ToolNote {
  const name = printable(typeof tool === 'string' ? tool : '?')
  return { tool: name, kind: 'left_out', message: `Tool "${name}" is omitted: ${reason}.` }
}

// Empty if the definition is nested too deeply to serialise.
function jsonOf(tool: Tool): string {
  try {
    return JSON.stringify(tool)
  } catch {
    return ''
  }
}
