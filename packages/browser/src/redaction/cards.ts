import { marker, type OnRedacted } from './marker.ts'

// Digit groups of a card number, minimum and maximum: in one group, or as printed.
const layouts: readonly (readonly (readonly [number, number])[])[] = [
  [[13, 19]],
  [
    [4, 4],
    [4, 4],
    [4, 4],
    [4, 4],
    [1, 3],
  ],
  [
    [4, 4],
    [4, 4],
    [4, 4],
    [4, 4],
  ],
  [
    [4, 4],
    [6, 6],
    [4, 5],
  ],
]

/** Redacts payment card numbers: valid issuer prefix and check digit. */
export function redactCards(text: string, onRedacted: OnRedacted): string {
  return text.replace(/\d[\d -]{11,}\d/g, (run, offset: number) => {
    if (isPartOfMore(text, offset, run.length)) return run
    return withoutCards(run, onRedacted)
  })
}

function isPartOfMore(text: string, offset: number, length: number): boolean {
  const before = text[offset - 1] ?? ''
  const after = text.slice(offset + length, offset + length + 2)
  return /[\w.]/.test(before) || /^(?:\w|\.\d)/.test(after)
}

function withoutCards(run: string, onRedacted: OnRedacted): string {
  const groups = [...run.matchAll(/\d+/g)].map((match) => ({ digits: match[0], at: match.index }))
  let clean = ''
  let kept = 0
  for (let i = 0; i < groups.length; i++) {
    const size = cardSize(groups, i)
    const first = groups[i]
    const last = groups[i + size - 1]
    if (size === 0 || first === undefined || last === undefined) continue
    clean += run.slice(kept, first.at) + marker
    kept = last.at + last.digits.length
    onRedacted('card')
    i += size - 1
  }
  return clean + run.slice(kept)
}

/** Number of groups from this one that form a card number; 0 for none. */
function cardSize(groups: readonly { readonly digits: string }[], from: number): number {
  for (const layout of layouts) {
    const isSo = layout.every(([min, max], i) => {
      const length = groups[from + i]?.digits.length ?? 0
      return length >= min && length <= max
    })
    if (!isSo) continue
    const digits = layout.map((_, i) => groups[from + i]?.digits ?? '').join('')
    if (isIssued(digits) && isChecked(digits)) return layout.length
  }
  return 0
}

function isIssued(digits: string): boolean {
  const { length } = digits
  const two = Number(digits.slice(0, 2))
  const four = Number(digits.slice(0, 4))
  if (digits.startsWith('4')) return length === 13 || length === 16 || length === 19
  if (two === 34 || two === 37) return length === 15
  if (two === 36 || two === 38 || two === 39 || (four >= 3000 && four <= 3059)) return length === 14 || length === 16
  if (two >= 51 && two <= 55) return length === 16
  if (four >= 2221 && four <= 2720) return length === 16
  if (four >= 3528 && four <= 3589) return length >= 16
  return four === 6011 || two === 65 || two === 62 || (four >= 6440 && four <= 6499) ? length >= 16 : false
}

/** Luhn check. */
function isChecked(digits: string): boolean {
  let sum = 0
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i])
    const counted = i % 2 === 0 ? digit : digit * 2
    sum += counted > 9 ? counted - 9 : counted
  }
  return sum % 10 === 0
}
