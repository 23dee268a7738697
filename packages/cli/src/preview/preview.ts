import type { Tool } from '@unfold-mcp/client'
import { type HostProfile, toolTokens } from '@unfold-mcp/core'
import { callToolIn, searchToolIn } from './surface.ts'
import type { Step, Transcript } from './transcript.ts'
import { type Warning, warningsOf } from './warnings.ts'

/** A tool as a model meets it. */
export interface PreviewedTool {
  readonly name: string
  /** What its definition costs the model, as this host passes it on. */
  readonly tokens: number
  /**
   * `listed`: in the model's first request. `named`: only its name is, because the host defers. `step`: after `after` was called.
   * `found`: never listed; a search finds it and `call_tool` calls it. `unreachable`: the list has nothing that leads to it.
   */
  readonly state: 'listed' | 'named' | 'step' | 'found' | 'unreachable'
  readonly after?: string
}

/** One step of a model towards a tool that is not listed. */
export interface PreviewedStep {
  readonly call: string
  /** Activators that have to be called before it. */
  readonly first: readonly string[]
  readonly reply: string
  readonly replyTokens: number
  readonly isError: boolean
  /** Tools that can be called from then on. */
  readonly tools: readonly string[]
  /** What their definitions add to the next request. */
  readonly tokens: number
  /** The tool that calls them, where the host does not list them in time. */
  readonly through?: string
}

/** Requests to the model until it has answered with the result of a tool. */
interface Turns {
  readonly listed: number
  /** Of a tool that is not listed, at least and at most; absent where all are listed, or none can be reached. */
  readonly unlisted?: { readonly least: number; readonly most: number }
}

/** What the model behind a host sees of a server, and how it reaches a tool. */
export interface HostPreview {
  readonly era: Transcript['era']
  readonly revision: string
  /** Listed tools first, then the others. */
  readonly tools: readonly PreviewedTool[]
  /** Tokens of the tools in the model's first request. */
  readonly tokens: number
  readonly instructionTokens: number
  /** Tokens of the definitions of all tools, listed or not. */
  readonly allTokens: number
  readonly steps: readonly PreviewedStep[]
  readonly turns: Turns
  readonly warnings: readonly Warning[]
}

/** What is needed besides what was transcript. */
export interface PreviewOptions {
  /** Absent: a client about which nothing is known. */
  readonly host: HostProfile | undefined
  /** Whether the host is configured to load this server's tools at once, where it would defer them. */
  readonly isLoaded?: boolean
  /** What the host's configuration calls the server; part of the tool names that a model sees. */
  readonly serverName: string
  readonly estimate: (text: string) => number
}

/** The preview for one host. */
export function previewOf(transcript: Transcript, options: PreviewOptions): HostPreview {
  const { host, isLoaded = false, estimate } = options
  const { era, revision, instructions = '', steps } = transcript
  const tools = previewedTools(transcript, host, isLoaded)
  return {
    era,
    revision,
    tools,
    tokens: tools.reduce((sum, tool) => sum + firstCost(tool, estimate), 0),
    instructionTokens: estimate(cut(instructions, host?.limits.instructions)),
    allTokens: tools.reduce((sum, { tokens }) => sum + tokens, 0),
    steps: steps.map((step) => previewedStep(step, callToolIn(transcript.tools), options)),
    turns: turnsOf(transcript, tools, host),
    warnings: warningsOf(transcript, options),
  }
}

function firstCost({ name, tokens, state }: PreviewedTool, estimate: (text: string) => number): number {
  if (state === 'named') return estimate(name)
  return state === 'listed' ? tokens : 0
}

function previewedTools(transcript: Transcript, host: HostProfile | undefined, isLoaded: boolean): readonly PreviewedTool[] {
  const { tools, steps, unlisted, outline } = transcript
  const isDeferred = isLoaded ? () => false : deferredBy(host, tools)
  const found = new Map<string, PreviewedTool>()
  const add = (tool: PreviewedTool): void => void (found.has(tool.name) || found.set(tool.name, tool))
  for (const tool of tools) add({ name: tool.name, tokens: costIn(host, tool), state: isDeferred(tool) ? 'named' : 'listed' })
  // A search enables one tool as an example of all that it finds.
  for (const { name, appeared } of steps.filter((step) => step.name !== 'manage_tools'))
    for (const tool of appeared) add({ name: tool.name, tokens: costIn(host, tool), state: 'step', after: name })
  const state = searchToolIn(tools) === undefined ? 'unreachable' : 'found'
  for (const tool of unlisted) add({ name: tool.name, tokens: costIn(host, tool), state })
  for (const { name, tokens } of outline?.tools ?? []) add({ name, tokens, state })
  return [...found.values()]
}

/** Which tools a host sends to the model by name alone. */
function deferredBy(host: HostProfile | undefined, tools: readonly Tool[]): (tool: Tool) => boolean {
  // Only a server that takes the host for one that defers adds search hints.
  const isHinted = tools.some(({ _meta }) => _meta?.['anthropic/searchHint'] !== undefined)
  if (host?.defers !== 'always' && !(host?.defers === 'by-setting' && isHinted)) return () => false
  const readsHint = host.hints.includes('anthropic/alwaysLoad')
  return ({ _meta }) => !(readsHint && _meta?.['anthropic/alwaysLoad'] === true)
}

const costIn = (host: HostProfile | undefined, tool: Tool): number => {
  const { description } = tool
  return toolTokens(description === undefined ? tool : { ...tool, description: cut(description, host?.limits.description) })
}

const cut = (text: string, most = Number.POSITIVE_INFINITY): string => (text.length > most ? text.slice(0, most) : text)

function previewedStep(step: Step, caller: string | undefined, { host, estimate }: PreviewOptions): PreviewedStep {
  const given = Object.entries(step.arguments).map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
  const through = host === undefined || host.relists === 'immediately' ? undefined : caller
  return {
    call: `${step.name}(${given.join(', ')})`,
    first: step.first ?? [],
    reply: step.reply,
    replyTokens: estimate(step.reply),
    isError: step.isError,
    tools: step.appeared.map(({ name }) => name),
    tokens: through === undefined ? step.appeared.reduce((sum, tool) => sum + costIn(host, tool), 0) : 0,
    ...(through !== undefined && step.appeared.length > 0 && { through }),
  }
}

function turnsOf({ tools: listed, steps }: Transcript, tools: readonly PreviewedTool[], host: HostProfile | undefined): Turns {
  // A host that defers spends one turn on its own search.
  const turns = { listed: tools.some(({ state }) => state === 'named') ? 3 : 2 }
  const caller = callToolIn(listed)
  // The surface of a host that never re-lists has call_tool; without it, such a host never sees a new tool.
  const late = caller !== undefined ? 0 : lateness[host?.relists ?? 'immediately']
  const isFound = tools.some(({ state }) => state === 'found')
  const finding = isFound ? [searchToolIn(listed) === 'search_tools' && caller !== undefined ? 3 : 4 + late] : []
  // One that only leads to further steps is not what the model wants.
  const leads = new Set([...steps.map(({ name }) => name), 'deactivate'])
  const activating = steps
    .filter(({ name, appeared }) => name !== 'manage_tools' && appeared.some((tool) => !leads.has(tool.name)))
    .map(({ first = [] }) => 3 + first.length + late)
  const all = [...finding, ...activating].filter((count) => Number.isFinite(count))
  return all.length === 0 ? turns : { ...turns, unlisted: { least: Math.min(...all), most: Math.max(...all) } }
}

const lateness: { readonly [R in HostProfile['relists']]: number } = {
  immediately: 0,
  late: 1,
  never: Number.POSITIVE_INFINITY,
}
