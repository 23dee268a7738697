import type { Difference, TextPiece } from '@unfold-mcp/gateway'
import { safeText } from '../text/safe.ts'
import type { Style } from '../text/style.ts'

// A server chooses the size of its texts.
const maxLength = 10_000
// Unchanged text around a change.
const contextLength = 80

/** One difference: its path, then the change. Text is compared word by word, as `[-removed-]{+added+}`. */
export function differenceLines({ path, before, after, words }: Difference, style: Style): readonly string[] {
  return [
    `  ${style.bold(safeText(path, { limit: 300 }))}`,
    ...(words === undefined
      ? [...valueLines('-', before, style.red), ...valueLines('+', after, style.green)]
      : indented(
          words.map((piece, at) => pieceText(piece, { style, isFirst: at === 0, isLast: at === words.length - 1 })).join(''),
        )),
  ]
}

function valueLines(sign: string, value: unknown, paint: (text: string) => string): readonly string[] {
  if (value === undefined) return []
  const text = typeof value === 'string' ? value : JSON.stringify(value, undefined, 2)
  return limited(text)
    .split('\n')
    .map((line) => `    ${paint(`${sign} ${line}`)}`)
}

interface Place {
  readonly style: Style
  readonly isFirst: boolean
  readonly isLast: boolean
}

function pieceText({ kind, text }: TextPiece, { style, isFirst, isLast }: Place): string {
  if (kind === 'removed') return style.red(`[-${limited(text)}-]`)
  if (kind === 'added') return style.green(`{+${limited(text)}+}`)
  if (text.length <= 2 * contextLength + 10) return shown(text)
  const start = isFirst ? '' : text.slice(0, contextLength)
  const end = isLast ? '' : text.slice(-contextLength)
  return shown(`${start} … ${end}`)
}

// The end is never cut silently: it may be the part that matters.
function limited(text: string): string {
  const safe = shown(text)
  if (safe.length <= maxLength) return safe
  return `${safe.slice(0, maxLength)} … (${safe.length - maxLength} more characters: unfold review --json)`
}

// Elsewhere colours are dropped. Here they are part of what a model reads.
const shown = (text: string): string =>
  safeText(text.replaceAll('\u001b', '\\u{1b}').replaceAll('\u009b', '\\u{9b}'), { lines: true })

const indented = (text: string): readonly string[] => text.split('\n').map((line) => `    ${line}`)
