import type { Tool } from './tool.ts'

/**
 * About how many tokens a text costs a model: deterministic and the same everywhere, so decisions that shape a list may rest
 * on it. Words count by length, punctuation one each, scripts without spaces about one per character.
 */
export function estimateTokens(text: string): number {
  let tokens = 0
  let word = 0
  const closeWord = () => {
    if (word > 0) tokens += Math.ceil(word / 6)
    word = 0
  }
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    const letter = (unit >= 97 && unit <= 122) || (unit >= 65 && unit <= 90) || (unit >= 48 && unit <= 57)
    if (letter) {
      word++
      continue
    }
    closeWord()
    if (unit === 32) continue
    tokens += unit < 128 ? 0.6 : 0.8
  }
  closeWord()
  return Math.ceil(tokens)
}

const known = new WeakMap<Tool, number>()

/** About how many tokens a tool's definition costs in a list. */
export function toolTokens(tool: Tool): number {
  const found = known.get(tool)
  if (found !== undefined) return found
  const { name, title, description, inputSchema } = tool
  const made = estimateTokens(JSON.stringify({ name, title, description, inputSchema }))
  known.set(tool, made)
  return made
}
