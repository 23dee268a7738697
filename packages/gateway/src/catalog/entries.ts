import { printable, type Tool } from '@unfold-mcp/core'
import type { HandlerResult, ToolContext, ToolEntry } from '@unfold-mcp/server'
import type { ServerConfig } from '../config/schema.ts'
import { exposedName, lookAlikes, serverSlug } from '../names/naming.ts'
import { reservedNames } from '../names/reserved.ts'
import { sanitizeTool } from './definition.ts'
import { type Overrides, applyOverride, readOverrides } from './overrides.ts'

/** Runs a tool of an upstream, by the upstream's own name for it. */
export type CallUpstream = (tool: string, input: unknown, ctx: ToolContext) => HandlerResult | Promise<HandlerResult>

export interface EntriesOptions {
  /** The upstream, as the configuration calls it. */
  readonly server: string
  readonly config: Pick<ServerConfig, 'tools' | 'allow' | 'deny' | 'timeoutMs'>
  readonly call: CallUpstream
  /** How many tools are taken at most. */
  readonly limit: number
}

/** Something about a tool that the operator should know. */
export interface ToolNote {
  /** The upstream's own name for the tool, safe to show; empty for the upstream as a whole. */
  readonly tool: string
  readonly kind: 'left_out' | 'changed' | 'warning'
  readonly message: string
}

/** The tools of an upstream as the library serves them. */
export interface UpstreamEntries {
  readonly entries: readonly ToolEntry[]
  /** From the name that clients see to the upstream's own. */
  readonly names: ReadonlyMap<string, string>
  readonly notes: readonly ToolNote[]
  /** What each definition became, for the next time. */
  readonly made: ReadonlyMap<string, Made>
  readonly options: EntriesOptions
}

interface Made {
  readonly entry: ToolEntry | undefined
  readonly notes: readonly ToolNote[]
  /** What the upstream said of it, before anything was taken out; without what the configuration says instead. */
  readonly said?: object
}

// How long a call may take is for the connection to say, which hears of its progress; this is for what it misses.
const maxCallMs = 600_000

/**
 * The entries for the tools of an upstream. One that cannot be served is left out and said; the others are served. Given what
 * was made `before` with the same options, an unchanged tool keeps its entry, so that nothing is computed for it again.
 */
export function upstreamEntries(tools: readonly Tool[], options: EntriesOptions, before?: UpstreamEntries): UpstreamEntries {
  const { limit, config } = options
  const overrides = readOverrides(config)
  const known = before?.options === options ? before.made : undefined
  const made = new Map<string, Made>()
  const names = new Map<string, string>()
  const entries: ToolEntry[] = []
  const notes: ToolNote[] = []
  for (const tool of tools.slice(0, limit)) {
    const text = textOf(tool)
    const result = known?.get(text) ?? madeOf(tool, text, options, overrides)
    made.set(text, result)
    notes.push(...result.notes)
    if (result.entry === undefined) continue
    const { name } = result.entry.tool
    const other = names.get(name)
    if (other === undefined) {
      names.set(name, tool.name)
      entries.push(result.entry)
    } else
      notes.push(
        leftOut(tool.name, other === tool.name ? 'it is listed twice' : `clients could not tell it from "${printable(other)}"`),
      )
  }
  if (tools.length > limit)
    notes.push({ tool: '', kind: 'left_out', message: `Only the first ${limit} of ${tools.length} tools are taken.` })
  for (const message of overrides.strays(new Set(tools.map(({ name }) => name)))) notes.push({ tool: '', kind: 'warning', message })
  for (const alike of lookAlikes([...names.keys(), ...reservedNames]))
    notes.push({ tool: alike[0] ?? '', kind: 'warning', message: `These tools look alike: ${alike.slice(0, 5).join(', ')}.` })
  return { entries, names, notes, made, options }
}

function madeOf(tool: Tool, text: string, options: EntriesOptions, overrides: Overrides): Made {
  const { server, config, call } = options
  if (text === '') return { entry: undefined, notes: [leftOut(tool.name, 'its definition is nested too deeply')] }
  const taken = sanitizeTool(tool, text)
  if ('problem' in taken) return { entry: undefined, notes: [leftOut(tool.name, taken.problem)] }
  const own = taken.tool.name
  if (!overrides.isEnabled(own)) return { entry: undefined, notes: [] }
  const slug = serverSlug(server)
  const override = overrides.of(own)
  const shown = applyOverride(taken.tool, override.name ?? exposedName(slug, own), override)
  const entry: ToolEntry = {
    tool: shown,
    // Of two upstreams that claim one name, the first is served and the clash is told; that holds for this origin alone.
    origin: 'dynamic',
    source: server,
    visibility: { group: slug },
    tags: [],
    aliases: [],
    ...(override.pinned === true && { pinned: true }),
    timeoutMs: Math.max(config.timeoutMs, maxCallMs) + 10_000,
    // Arguments are the upstream's own to check, in its own words; its patterns are never run here.
    input: { json: shown.inputSchema, check: (value) => ({ value }) },
    handler: (input: unknown, ctx: ToolContext) => call(own, input, ctx),
  }
  const notes = taken.notes.map(
    (note): ToolNote => ({ tool: printable(own), kind: 'changed', message: `The tool "${printable(own)}": ${note}.` }),
  )
  const { description, ...rest } = tool
  return { entry, notes, said: override.description === undefined ? { ...rest, description } : rest }
}

function leftOut(tool: unknown, why: string): ToolNote {
  const name = printable(typeof tool === 'string' ? tool : '?')
  return { tool: name, kind: 'left_out', message: `The tool "${name}" is left out: ${why}.` }
}

/** The definition as text; empty for one that is too deep to have one. */
function textOf(tool: Tool): string {
  try {
    return JSON.stringify(tool)
  } catch {
    return ''
  }
}
