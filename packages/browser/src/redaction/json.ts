import { visiblePart } from './headers.ts'
import { isRedactedValue, type OnRedacted } from './marker.ts'
import { isSensitiveValue, type Secrecy, secrecyOf } from './names.ts'
import { endOfString } from './quotes.ts'

const quote = { mark: '"', escapes: 0 }
// Prefixes against script inclusion, and length prefixes of some protocols.
const beginning = /^\s{0,64}(?:\)\]\}',?\s{0,8})?\d{0,6}\s{0,8}[[{"]/
const prefix = /^\s{0,64}\)\]\}',?/
// Start of a string, a bracket, or a literal.
const pieces = /"|[[\]{}]|[^\s,:{}[\]"]+/
const word = /^(?:true|false|null|-?\d[\d.eE+-]*)$/
const cutWord = /^(?:t|tr|tru|f|fa|fal|fals|n|nu|nul|-)$/

/** True for JSON, a truncated beginning of it, or several concatenated values. */
export function isJson(text: string): boolean {
  if (!beginning.test(text)) return false
  const part = new RegExp(pieces, 'g')
  part.lastIndex = prefix.exec(text)?.[0].length ?? 0
  for (let match = part.exec(text); match !== null; match = part.exec(text)) {
    const [piece] = match
    if (piece === '"') part.lastIndex = Math.min(text.length, endOfString(text, match.index + 1, quote) + 1)
    else if (
      piece.length > 64 ||
      !(/^[[\]{}]$/.test(piece) || word.test(piece) || (part.lastIndex === text.length && cutWord.test(piece)))
    )
      return false
  }
  return true
}

/** State of the JSON walk. */
interface JsonPosition {
  depth: number
  /** Name of the next value. */
  name: string | undefined
  /** Depth of the brackets of a secret, whose content is redacted. */
  secretDepth: number
  /** Name from a `{"name": …, "value": …}` pair at this depth. */
  pair: { readonly depth: number; readonly name: string } | undefined
}

const pairNames = new Set(['name', 'key', 'header', 'field', 'id'])

/**
 * Redacts the values of secret names and applies `text` to every other string and number. Valid JSON stays valid, and a truncated
 * beginning stays one.
 */
export function redactInJson(text: string, onRedacted: OnRedacted, apply: (text: string, isLast: boolean) => string): string {
  const position: JsonPosition = { depth: 0, name: undefined, secretDepth: -1, pair: undefined }
  let clean = ''
  let kept = 0
  const replace = (from: number, to: number, replacement: string): void => {
    clean += text.slice(kept, from) + replacement
    kept = to
  }
  const part = new RegExp(pieces, 'g')
  for (let match = part.exec(text); match !== null; match = part.exec(text)) {
    const [piece] = match
    const at = match.index
    if (piece === '{' || piece === '[') {
      if (position.secretDepth === -1 && position.name !== undefined && isSecret(secrecyOf(position.name)))
        position.secretDepth = position.depth
      position.depth++
      position.name = undefined
    } else if (piece === '}' || piece === ']') {
      position.depth = Math.max(0, position.depth - 1)
      if (position.depth <= position.secretDepth) position.secretDepth = -1
      if (position.pair !== undefined && position.pair.depth > position.depth) position.pair = undefined
      position.name = undefined
    } else if (piece === '"') {
      const end = endOfString(text, at + 1, quote)
      part.lastIndex = Math.min(text.length, end + 1)
      const raw = text.slice(at + 1, end)
      const isName = isFollowedByColon(text, end + 1)
      const value = stringOf(raw)
      const now = isName
        ? apply(value, false)
        : cleanValue(position, value, onRedacted, (each) => apply(each, end === text.length))
      if (now !== value) replace(at + 1, end, JSON.stringify(now).slice(1, -1))
      if (!isName) notePair(position, value)
      position.name = isName ? value : undefined
    } else {
      const now = cleanValue(position, piece, onRedacted, (each) => (/\d/.test(each) ? apply(each, false) : each))
      if (now !== piece) replace(at, at + piece.length, JSON.stringify(now))
      position.name = undefined
    }
  }
  return clean + text.slice(kept)
}

const isSecret = (secrecy: Secrecy): boolean => secrecy === 'always' || secrecy === 'data'

function cleanValue(position: JsonPosition, value: string, onRedacted: OnRedacted, apply: (text: string) => string): string {
  const name = secretName(position)
  if (name === undefined) return apply(value)
  if (isRedactedValue(value) || !isSensitiveValue(name, value)) return value
  const now = visiblePart(name, value)
  if (now !== value) onRedacted('field')
  return now
}

/** Returns the name that makes the next value secret. */
function secretName({ name, secretDepth, pair, depth }: JsonPosition): string | undefined {
  if (secretDepth !== -1) return ''
  if (name === undefined) return undefined
  if (isSecret(secrecyOf(name))) return name
  return pair?.depth === depth && /^(?:value|content)$/i.test(name) ? pair.name : undefined
}

function notePair(position: JsonPosition, value: string): void {
  if (position.name === undefined || !pairNames.has(position.name.toLowerCase())) return
  if (value.length <= 128 && isSecret(secrecyOf(value))) position.pair = { depth: position.depth, name: value }
}

const colon = /\s*:/y

function isFollowedByColon(text: string, from: number): boolean {
  colon.lastIndex = from
  return colon.test(text)
}

/** Decodes a string; returns it unchanged if it was truncated within an escape. */
function stringOf(raw: string): string {
  if (!raw.includes('\\')) return raw
  try {
    const value: unknown = JSON.parse(`"${raw}"`)
    return typeof value === 'string' ? value : raw
  } catch {
    return raw
  }
}
