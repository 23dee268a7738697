import { type Tool, toolTokens, viewFingerprint } from '@unfold-mcp/core'
import type { ToolEntry } from '../entry.ts'

/** A view with what a list needs of it, made once. */
export interface Shown {
  readonly entries: readonly ToolEntry[]
  readonly tools: readonly Tool[]
  readonly fingerprint: string
  /** The JSON text of `tools`, encoded. */
  readonly bytes: Uint8Array<ArrayBuffer>
  /** About what the list costs a model. */
  readonly tokens: number
}

export function shownOf(entries: readonly ToolEntry[]): Shown {
  let bytes: Shown['bytes'] | undefined
  let tokens: number | undefined
  return {
    entries,
    tools: entries.map((entry) => entry.tool),
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

/** The JSON array of values that are encoded already. For a thousand tools this takes a tenth of joining and encoding texts. */
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
