import { hasModeMeta, type ModeSet, modeMeta, type Snapshot, type Tool, toolTokens, viewFingerprint } from '@unfold-mcp/core'
import { sentence } from '../catalog/activators.ts'
import type { ToolEntry } from '../tool/entry.ts'

/** A view with everything that a list needs, computed once. */
export interface RenderedView {
  readonly entries: readonly ToolEntry[]
  readonly tools: readonly Tool[]
  readonly fingerprint: string
  /** `tools` as encoded JSON. */
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Approximate cost for a model. */
  readonly tokens: number
  /** Whether `_meta` can include amounts of data. */
  readonly isCounted: boolean
}

export function renderView(entries: readonly ToolEntry[]): RenderedView {
  let bytes: RenderedView['bytes'] | undefined
  let tokens: number | undefined
  return {
    entries,
    tools: entries.map((entry) => entry.tool),
    isCounted: entries.some(({ modes }) => modes !== undefined && hasModeMeta(modes)),
    fingerprint: viewFingerprint(entries),
    get bytes() {
      bytes ??= arrayOf(entries.map((entry) => bytesOf(entry.tool)))
      return bytes
    },
    get tokens() {
      tokens ??= entries.reduce((sum, entry) => sum + toolTokens(entry.tool), 0)
      return tokens
    },
  }
}

/** Adds the current amounts of data to `_meta`. Fingerprint and cost stay the same. */
export function withCounts(view: RenderedView, available: ReadonlyMap<ToolEntry, ModeSet>, snapshot: Snapshot): RenderedView {
  const tools = view.entries.map((entry) => {
    const { tool, modes } = entry
    const set = available.get(entry.declared ?? entry)
    const meta = modes === undefined || set === undefined ? undefined : modeMeta(modes, set, snapshot)
    return meta === undefined ? tool : { ...tool, _meta: { ...tool._meta, ...meta } }
  })
  return {
    entries: view.entries,
    tools,
    fingerprint: view.fingerprint,
    isCounted: true,
    get bytes() {
      return arrayOf(
        tools.map((tool, index) => (tool === view.tools[index] ? bytesOf(tool) : encoder.encode(JSON.stringify(tool)))),
      )
    },
    get tokens() {
      return view.tokens
    },
  }
}

const advisedTools = new WeakMap<Tool, Map<string, Tool>>()

/** Appends advice to a description; returns the same object for the same tool and advice. */
export function advised(tool: Tool, advice: string): Tool {
  const known = advisedTools.get(tool) ?? new Map<string, Tool>()
  advisedTools.set(tool, known)
  const found = known.get(advice)
  if (found !== undefined) return found
  const about = tool.description === undefined || tool.description === '' ? [] : [sentence(tool.description)]
  const made = { ...tool, description: [...about, advice].join(' ') }
  known.set(advice, made)
  return made
}

const encoder = new TextEncoder()
const known = new WeakMap<Tool, Uint8Array>()

function bytesOf(tool: Tool): Uint8Array {
  const found = known.get(tool)
  if (found !== undefined) return found
  const made = encoder.encode(JSON.stringify(tool))
  known.set(tool, made)
  return made
}

const [opening = 0, comma = 0, closing = 0] = encoder.encode('[,]')

/** Joins encoded values to a JSON array. For a thousand tools this takes a tenth of the time of encoding the joined text. */
function arrayOf(values: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const length = values.reduce((sum, value) => sum + value.length + 1, 1)
  const array = new Uint8Array(Math.max(length, 2)).fill(opening, 0, 1)
  let at = 1
  for (const value of values) {
    array.set(value, at)
    at += value.length
    array[at++] = comma
  }
  return array.fill(closing, -1)
}
