import { requiredTerms, type Terms } from './required-terms.ts'

interface Term {
  readonly text: string
  /** Where its window ends. */
  readonly end: number
  readonly requirement: number
}

// Terms are looked up by four consecutive characters.
const windowLength = 4
const slotBits = 13
// By letter, from frequent to rare; first other characters.
const ranks = Array.from(' abcdefghijklmnopqrstuvwxyz', (letter) => ' etaoinsrhldcumfpgwybvkxjqz'.indexOf(letter))

/** Selects, in one pass over a text, those of many patterns that can match. */
export class PatternFilter<T> {
  readonly #terms: (Term[] | undefined)[] = Array.from({ length: 2 ** slotBits })
  readonly #patterns: readonly { readonly item: T; readonly requirements: readonly number[] }[]
  readonly #isMet: Uint8Array

  constructor(items: readonly T[], patternOf: (item: T) => RegExp) {
    const known = new Map<string, number>()
    this.#patterns = items.map((item) => {
      const required = requiredTerms(patternOf(item).source).filter((terms) =>
        terms.every(({ length }) => length >= windowLength),
      )
      return { item, requirements: required.map((terms) => this.#require(terms, known)) }
    })
    this.#isMet = new Uint8Array(known.size)
  }

  #require(terms: Terms, known: Map<string, number>): number {
    const key = terms.join()
    const requirement = known.get(key) ?? known.size
    if (!known.has(key)) for (const term of terms) this.#add(term, requirement)
    known.set(key, requirement)
    return requirement
  }

  #add(text: string, requirement: number): void {
    const end = rarestWindow(text)
    let window = 0
    for (let at = end - windowLength; at < end; at++) window = shifted(window, symbolAt(text, at))
    const slot = slotOf(window)
    const terms = this.#terms[slot] ?? []
    terms.push({ text, end, requirement })
    this.#terms[slot] = terms
  }

  /** Returns the items whose pattern may match a text in lower case, in their order. */
  select(text: string): readonly T[] {
    const [terms, isMet] = [this.#terms, this.#isMet]
    isMet.fill(0)
    let window = 0
    for (let at = 0; at <= text.length; at++) {
      window = shifted(window, symbolAt(text, at))
      const found = terms[slotOf(window)]
      if (found === undefined) continue
      for (const { text: term, end, requirement } of found)
        if (isMet[requirement] === 0 && hasTerm(text, at + 1 - end, term)) isMet[requirement] = 1
    }
    const selected: T[] = []
    for (const { item, requirements } of this.#patterns) if (this.#areMet(requirements)) selected.push(item)
    return selected
  }

  #areMet(requirements: readonly number[]): boolean {
    for (const requirement of requirements) if (this.#isMet[requirement] === 0) return false
    return true
  }
}

/** 1 to 26 for a letter, 0 for other characters and outside the text. */
function symbolAt(text: string, at: number): number {
  if (at < 0 || at >= text.length) return 0
  const code = text.charCodeAt(at)
  return code >= 97 && code <= 122 ? code - 96 : 0
}

/** The last four characters as a number. */
const shifted = (window: number, symbol: number): number => ((window << 5) | symbol) & 0xf_ffff

const slotOf = (window: number): number => Math.imul(window, 0x9e37_79b1) >>> (32 - slotBits)

function hasTerm(text: string, start: number, term: string): boolean {
  for (let at = 0; at < term.length; at++) if (symbolAt(text, start + at) !== symbolAt(term, at)) return false
  return true
}

/** Returns where the rarest four characters of a term end. */
function rarestWindow(term: string): number {
  let [end, rarity, sum] = [windowLength, -1, 0]
  for (let at = 0; at < term.length; at++) {
    sum += rankAt(term, at) - rankAt(term, at - windowLength)
    if (at + 1 < windowLength || sum <= rarity) continue
    end = at + 1
    rarity = sum
  }
  return end
}

const rankAt = (term: string, at: number): number => ranks[symbolAt(term, at)] ?? 0
