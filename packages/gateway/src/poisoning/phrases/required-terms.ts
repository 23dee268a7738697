/** Alternatives, of which a text must contain one. */
export type Terms = readonly string[]

/** What a part of a pattern matches. */
interface Part {
  /** All texts that it can match, if these are few. */
  readonly exact?: Terms
  /** Every match contains a term of each. */
  readonly required: readonly Terms[]
}

/** In terms, stands for any character other than a to z, and for the start and the end of a text. */
const nonLetter = ' '
// Becomes a non-letter when its neighbours are known: the next character may be the one that ends the word.
const boundary = '|'

const maxExact = 64
const maxCombined = 12
const unknown: Part = { required: [] }
const empty: Part = { exact: [''], required: [] }

const token = /(?:[a-z]|\\[bs])+(?![?*+{])|\(\?(?:[:=!]|<[=!])|\\p\{[^}]*\}|\\.|\[(?:\\.|[^\]\\])*\]|\{[\d,]+\}|./gs

/**
 * Returns what a text must contain for a pattern to match: a term of each set. Supports the syntax that the rules use; the pattern
 * and the text are in lower case.
 */
export function requiredTerms(source: string): readonly Terms[] {
  const tokens = source.match(token) ?? []
  let at = 0
  const alternatives = (): Part => {
    const parts = [sequence()]
    while (tokens[at] === '|') {
      at++
      parts.push(sequence())
    }
    return eitherOf(parts)
  }
  const sequence = (): Part => {
    const parts: Part[] = []
    while (at < tokens.length && tokens[at] !== '|' && tokens[at] !== ')') parts.push(repeated(single(), tokens[at] ?? ''))
    return inOrder(parts)
  }
  const single = (): Part => {
    const start = tokens[at++] ?? ''
    if (!start.startsWith('(')) return characterOf(start)
    const group = alternatives()
    at++
    return start === '(?:' || start === '(' ? group : empty
  }
  const repeated = (part: Part, quantifier: string): Part => {
    if (!/^(?:[?*+]|\{\d.*\})$/u.test(quantifier)) return part
    at++
    if (quantifier === '?') return eitherOf([part, empty])
    return /^(?:\*|\{0)/u.test(quantifier) ? unknown : { required: requiredOf(part) }
  }
  return requiredOf(alternatives()).map((terms) => [...new Set(terms.map(resolved))])
}

function characterOf(start: string): Part {
  if (/^(?:[a-z]|\\[bs])+$/.test(start))
    return { exact: [start.replaceAll('\\b', boundary).replaceAll('\\s', nonLetter)], required: [] }
  if (/^\\[wWSDp]|^\.$/.test(start)) return unknown
  if (!start.startsWith('[')) return { exact: [nonLetter], required: [] }
  const members = start.slice(1, -1)
  return /[\\^]|.-./.test(members) ? unknown : eitherOf(Array.from(members, characterOf))
}

function inOrder(parts: readonly Part[]): Part {
  const required: Terms[] = []
  let exact: Terms = ['']
  let isExact = true
  for (const part of parts) {
    const combined = combinations(exact, part.exact)
    if (combined !== undefined) {
      exact = combined
      continue
    }
    required.push(exact, ...part.required)
    // The character before is part of the next terms too, so that short ones are not useless.
    const before = exact.every((term) => term.endsWith(nonLetter)) ? nonLetter : ''
    exact = part.exact?.map((term) => before + term) ?? ['']
    isExact = false
  }
  return isExact ? { exact, required } : { required: [...required, exact] }
}

/** All texts that consist of a start and an end, if these are few. */
function combinations(starts: Terms, ends: Terms | undefined): Terms | undefined {
  if (ends === undefined) return undefined
  if (starts.length > 1 && ends.length > 1 && starts.length * ends.length > maxCombined) return undefined
  return starts.flatMap((start) => ends.map((end) => start + end))
}

function eitherOf(parts: readonly Part[]): Part {
  const [first = empty, ...others] = parts
  if (others.length === 0) return first
  const exact = parts.every((part) => part.exact !== undefined)
    ? [...new Set(parts.flatMap((part) => part.exact ?? []))]
    : undefined
  if (exact !== undefined && exact.length <= maxExact) return { exact, required: [] }
  const best = parts.map((part) => requiredOf(part).toSorted((a, b) => shortest(b) - shortest(a))[0] ?? [''])
  return { required: [best.flat()] }
}

const requiredOf = ({ exact, required }: Part): readonly Terms[] => (exact === undefined ? required : [exact])

/** Replaces boundaries: where a letter meets the unknown, there is a character that is not a letter. */
const resolved = (term: string): string => term.replaceAll(/\|*( )\|*|\|+/gu, nonLetter)

const shortest = (terms: Terms): number => terms.reduce((length, term) => Math.min(length, term.length), Number.POSITIVE_INFINITY)
