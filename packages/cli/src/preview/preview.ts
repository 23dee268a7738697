import type { Outline, Tool } from '@unfold-mcp/client'
import { type HostProfile, surfaceNames, toolTokens } from '@unfold-mcp/core'
import { counted } from '../text/amount.ts'
import { warningsOf } from './warnings.ts'

/** What a client was sent when it connected. */
export interface Sent {
  readonly era: 'session' | 'stateless'
  readonly revision: string
  readonly tools: readonly Tool[]
  readonly instructions: string | undefined
  /** All tools of the server, where it reports them. */
  readonly outline: Outline | undefined
  /** A real search for one unlisted tool, where the list has `search_tools`. */
  readonly search?: { readonly query: string; readonly target: string; readonly text: string } | undefined
}

interface PreviewedTool {
  readonly name: string
  readonly tokens: number
  /** Whether the definition is in the model's first request; a host that defers sends only the name. */
  readonly loaded: boolean
}

/** One turn of a model that wants a tool. */
interface Turn {
  readonly sees: string
  readonly does: string
  readonly tokens?: number
}

/** What the model behind a host sees of a server, and how it reaches a tool. */
export interface HostPreview {
  readonly era: Sent['era']
  readonly revision: string
  readonly tools: readonly PreviewedTool[]
  /** Tokens of the definitions in the model's first request. */
  readonly tokens: number
  readonly instructionTokens: number
  /** Tools that exist for this client and are not listed. */
  readonly unlisted: readonly string[]
  readonly allTokens: number
  readonly turns: readonly Turn[]
  readonly warnings: readonly string[]
}

/** The preview for a host, or for a client about which nothing is known. */
export function previewOf(sent: Sent, host: HostProfile | undefined, estimate: (text: string) => number): HostPreview {
  const { era, revision, tools, outline, instructions = '' } = sent
  const defers = host?.defers === 'always'
  const shown = tools.map((tool) => ({
    name: tool.name,
    tokens: toolTokens(tool),
    loaded: !defers || tool._meta?.['anthropic/alwaysLoad'] === true,
  }))
  const names = new Set(tools.map(({ name }) => name))
  const unlisted = (outline?.tools ?? []).filter(({ name }) => !names.has(name))
  const tokens = shown.reduce((sum, tool) => sum + (tool.loaded ? tool.tokens : estimate(tool.name)), 0)
  return {
    era,
    revision,
    tools: shown,
    tokens,
    instructionTokens: estimate(instructions),
    unlisted: unlisted.map(({ name }) => name),
    allTokens: (outline?.tools ?? shown).reduce((sum, tool) => sum + tool.tokens, 0),
    turns: turnsOf(sent, { host, unlisted: unlisted.length, tokens, estimate }),
    warnings: warningsOf(sent, host, unlisted),
  }
}

interface Around {
  readonly host: HostProfile | undefined
  readonly unlisted: number
  readonly tokens: number
  readonly estimate: (text: string) => number
}

/** How a model reaches a tool, turn by turn; nothing where it cannot. */
function turnsOf({ tools, search }: Sent, { host, unlisted, tokens, estimate }: Around): readonly Turn[] {
  const has = (name: string): boolean => tools.some((tool) => tool.name === name)
  const last = { sees: 'the result', does: 'answers' }
  const sees = counted(tools.length, 'tool')
  if (host?.defers === 'always' && unlisted === 0)
    return [
      { sees: `the names of ${sees}`, does: `searches with the tool search of ${host.title}`, tokens },
      { sees: 'the definition', does: 'calls the tool' },
      last,
    ]
  if (unlisted === 0) return [{ sees, does: 'calls the tool', tokens }, last]
  const caller = ['call_tool', 'call_tool_read'].find(has)
  if (has('search_tools') && caller !== undefined) {
    const found = search?.text.includes(search.target) === true
    return [
      { sees, does: search === undefined ? 'calls search_tools' : `calls search_tools("${search.query}")`, tokens },
      {
        sees: search === undefined || found ? 'signatures of the matches' : `matches without ${search.target}`,
        does: `calls ${caller}`,
        ...(search !== undefined && { tokens: estimate(search.text) }),
      },
      last,
    ]
  }
  const opener = has('manage_tools') ? 'manage_tools' : tools.find(isActivator)?.name
  if (opener === undefined) return []
  const next = caller ?? 'the tool'
  return [{ sees, does: `calls ${opener}`, tokens }, { sees: 'signatures of the new tools', does: `calls ${next}` }, last]
}

const isActivator = ({ name, _meta }: Tool): boolean =>
  _meta?.['anthropic/alwaysLoad'] === true && !surfaceNames.has(name) && name.startsWith('activate')
