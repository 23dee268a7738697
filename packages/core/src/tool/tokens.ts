import type { Tool } from './tool.ts'

/**
 * Estimates the tokens of a text. Deterministic on every platform, so it may influence the list. Follows the splitting of
 * o200k_base: words at case changes, short runs of capitals, numbers, punctuation and spaces; within a few per cent for tool lists.
 * Scripts without spaces count about one token per character.
 */
export function estimateTokens(text: string): number {
  let tokens = 0
  let run: Run = { kind: 'space', length: 0, capitals: 0 }
  let before = 0
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    const kind = kindOf(unit)
    const isCapital = kind === 'word' && unit <= 90
    if (kind !== run.kind || (isCapital && before >= 97)) {
      tokens += costOf(run, kind)
      run = { kind, length: 0, capitals: 0 }
    }
    run.length++
    if (isCapital) run.capitals++
    before = unit
  }
  return Math.ceil(tokens + costOf(run, 'space'))
}

type Kind = 'space' | 'word' | 'number' | 'mark' | 'other'

interface Run {
  readonly kind: Kind
  length: number
  capitals: number
}

function kindOf(unit: number): Kind {
  if (unit <= 32) return 'space'
  if ((unit >= 97 && unit <= 122) || (unit >= 65 && unit <= 90)) return 'word'
  if (unit >= 48 && unit <= 57) return 'number'
  return unit < 128 ? 'mark' : 'other'
}

function costOf({ kind, length, capitals }: Run, next: Kind): number {
  if (kind === 'word') {
    const shouted = Math.max(0, capitals - 1)
    return Math.ceil((length - shouted) / 10 + shouted / 4)
  }
  if (kind === 'number') return Math.ceil(length / 3)
  if (kind === 'other') return length * 0.8
  // A single space or punctuation mark before a word is often part of its token: ` the`, `_id`, `.name`.
  if (kind === 'space') return length > 1 ? 1 : 0
  return length === 1 && next === 'word' ? 0.5 : Math.ceil(length / 4)
}

const known = new WeakMap<Tool, number>()

/** Estimates the tokens of a tool definition in a list. */
export function toolTokens(tool: Tool): number {
  const found = known.get(tool)
  if (found !== undefined) return found
  const { name, title, description, inputSchema } = tool
  const made = estimateTokens(JSON.stringify({ name, title, description, inputSchema }))
  known.set(tool, made)
  return made
}
