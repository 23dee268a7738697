import type { Tool } from '@unfold-mcp/client'
import { type HostProfile, toolTokens } from '@unfold-mcp/core'
import { callToolIn, searchToolIn } from './surface.ts'
import type { Step, Transcript } from './transcript.ts'
import { type Warning, warningsOf } from './warnings.ts'

export interface PreviewedTool {
  readonly name: string
  /** Tokens of its definition as sent by this host. */
  readonly tokens: number
  /**
   * `listed`: in the first request of the model. `named`: by name only, because the host defers it. `step`: after a call of
   * `after`. `found`: unlisted, but reachable with search and `call_tool`. `unreachable`: not reachable from the list.
   */
  readonly state: 'listed' | 'named' | 'step' | 'found' | 'unreachable'
  readonly after?: string
}

/** A call towards an unlisted tool. */
export interface PreviewedStep {
  readonly call: string
  /** Activators to call first. */
  readonly first: readonly string[]
  readonly reply: string
  readonly replyTokens: number
  readonly isError: boolean
  /** Tools that become available. */
  readonly tools: readonly string[]
  /** Tokens that they add to the next request. */
  readonly tokens: number
  /** Tool that calls them, if the host does not re-list in time. */
  readonly through?: string
}

/** Model requests until the result of a tool is used. */
interface Turns {
  readonly listed: number
  /** For unlisted tools; absent if there are none, or none is reachable. */
  readonly unlisted?: { readonly min: number; readonly max: number }
}

export interface HostPreview {
  readonly era: Transcript['era']
  readonly revision: string
  /** Listed tools first. */
  readonly tools: readonly PreviewedTool[]
  /** Tokens of the tools in the first request of the model. */
  readonly tokens: number
  readonly instructionTokens: number
  /** Tokens of all definitions, listed or not. */
  readonly allTokens: number
  readonly steps: readonly PreviewedStep[]
  readonly turns: Turns
  readonly warnings: readonly Warning[]
}

export interface PreviewOptions {
  /** Undefined: an unknown client. */
  readonly host: HostProfile | undefined
  /** Whether the host loads the tools of this server without deferring them. */
  readonly isLoaded?: boolean
  /** Name in the host's configuration; part of the tool names that the model sees. */
  readonly serverName: string
  readonly estimate: (text: string) => number
}

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
  const previewed = new Map<string, PreviewedTool>()
  const add = (tool: PreviewedTool): void => void (previewed.has(tool.name) || previewed.set(tool.name, tool))
  for (const tool of tools) add({ name: tool.name, tokens: costIn(host, tool), state: isDeferred(tool) ? 'named' : 'listed' })
  // manage_tools enabled one tool as an example.
  for (const { name, appeared } of steps.filter((step) => step.name !== 'manage_tools'))
    for (const tool of appeared) add({ name: tool.name, tokens: costIn(host, tool), state: 'step', after: name })
  const state = searchToolIn(tools) === undefined ? 'unreachable' : 'found'
  for (const tool of unlisted) add({ name: tool.name, tokens: costIn(host, tool), state })
  for (const { name, tokens } of outline?.tools ?? []) add({ name, tokens, state })
  return [...previewed.values()]
}

function deferredBy(host: HostProfile | undefined, tools: readonly Tool[]): (tool: Tool) => boolean {
  // A server adds search hints only if it assumes that the host defers.
  const isHinted = tools.some(({ _meta }) => _meta?.['anthropic/searchHint'] !== undefined)
  if (host?.defers !== 'always' && !(host?.defers === 'by-setting' && isHinted)) return () => false
  const readsHint = host.hints.includes('anthropic/alwaysLoad')
  return ({ _meta }) => !(readsHint && _meta?.['anthropic/alwaysLoad'] === true)
}

const costIn = (host: HostProfile | undefined, tool: Tool): number => {
  const { description } = tool
  return toolTokens(description === undefined ? tool : { ...tool, description: cut(description, host?.limits.description) })
}

const cut = (text: string, max = Number.POSITIVE_INFINITY): string => (text.length > max ? text.slice(0, max) : text)

function previewedStep(step: Step, caller: string | undefined, { host, estimate }: PreviewOptions): PreviewedStep {
  const args = Object.entries(step.arguments).map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
  const through = host === undefined || host.relists === 'immediately' ? undefined : caller
  return {
    call: `${step.name}(${args.join(', ')})`,
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
  // A deferring host needs one turn for its own search.
  const turns = { listed: tools.some(({ state }) => state === 'named') ? 3 : 2 }
  const caller = callToolIn(listed)
  // Without call_tool, a host that never re-lists does not see new tools.
  const delay = caller !== undefined ? 0 : relistDelay[host?.relists ?? 'immediately']
  const isFound = tools.some(({ state }) => state === 'found')
  const finding = isFound ? [searchToolIn(listed) === 'search_tools' && caller !== undefined ? 3 : 4 + delay] : []
  // Tools that only lead to further steps are not the goal.
  const stepNames = new Set([...steps.map(({ name }) => name), 'deactivate'])
  const activating = steps
    .filter(({ name, appeared }) => name !== 'manage_tools' && appeared.some((tool) => !stepNames.has(tool.name)))
    .map(({ first = [] }) => 3 + first.length + delay)
  const all = [...finding, ...activating].filter((count) => Number.isFinite(count))
  return all.length === 0 ? turns : { ...turns, unlisted: { min: Math.min(...all), max: Math.max(...all) } }
}

const relistDelay: { readonly [R in HostProfile['relists']]: number } = {
  immediately: 0,
  late: 1,
  never: Number.POSITIVE_INFINITY,
}
