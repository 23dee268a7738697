/** Set of code units as ranges. */
export interface CharacterSet {
  readonly ranges: readonly (readonly [number, number])[]
  readonly isNegated: boolean
}

/** Invalid or unsupported pattern; the message suggests an alternative. */
export class InvalidPattern extends Error {
  override readonly name = 'PatternRefused'
}

const maxLength = 200
const maxRepeats = 200
const maxDepth = 20
export const anyNumber = Number.POSITIVE_INFINITY

/** Syntax tree of a pattern. */
export type Node =
  | { readonly kind: 'take'; readonly set: CharacterSet }
  | { readonly kind: 'hold'; readonly at: 'start' | 'end' | 'edge' | 'inside' }
  | { readonly kind: 'after'; readonly parts: readonly Node[] }
  | { readonly kind: 'either'; readonly parts: readonly Node[] }
  | { readonly kind: 'repeat'; readonly part: Node; readonly from: number; readonly to: number }

/** Parses a pattern; throws `InvalidPattern`. */
export function parsePattern(source: string): Node {
  if (source === '') throw new InvalidPattern('The pattern is empty. Use the text to redact, or a regular expression.')
  if (source.length > maxLength) {
    throw new InvalidPattern(
      `The pattern has ${source.length} characters; at most ${maxLength} are allowed. Use several patterns.`,
    )
  }
  return new Parser(source).parse()
}

const digit: readonly (readonly [number, number])[] = [[48, 57]]
const wordCharacter: readonly (readonly [number, number])[] = [
  [48, 57],
  [65, 90],
  [95, 95],
  [97, 122],
]
const space: readonly (readonly [number, number])[] = [
  [9, 13],
  [32, 32],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
]
const lineBreak: readonly (readonly [number, number])[] = [
  [10, 10],
  [13, 13],
  [0x2028, 0x2029],
]
const classes: { readonly [letter: string]: CharacterSet } = {
  d: { ranges: digit, isNegated: false },
  D: { ranges: digit, isNegated: true },
  w: { ranges: wordCharacter, isNegated: false },
  W: { ranges: wordCharacter, isNegated: true },
  s: { ranges: space, isNegated: false },
  S: { ranges: space, isNegated: true },
}
const controls: { readonly [letter: string]: number } = { n: 10, r: 13, t: 9, f: 12, v: 11, 0: 0 }

class Parser {
  readonly #source: string
  #at = 0
  #depth = 0

  constructor(source: string) {
    this.#source = source
  }

  parse(): Node {
    const node = this.#either()
    if (this.#at < this.#source.length) this.#fail('Unmatched closing parenthesis. Write `\\)` for the character.')
    return node
  }

  #either(): Node {
    const parts = [this.#sequence()]
    while (this.#next() === '|') {
      this.#at++
      parts.push(this.#sequence())
    }
    const [only] = parts
    return parts.length === 1 && only !== undefined ? only : { kind: 'either', parts }
  }

  #sequence(): Node {
    const parts: Node[] = []
    for (let char = this.#next(); char !== undefined && char !== '|' && char !== ')'; char = this.#next()) {
      if (char === '^' && parts.length > 0) {
        this.#fail('`^` is the beginning of a line, and something comes before it. Write `\\^` for the character.')
      }
      parts.push(this.#repeated(this.#atom(char)))
    }
    return { kind: 'after', parts }
  }

  #atom(char: string): Node {
    this.#at++
    if (char === '(') return this.#group()
    if (char === '[') return { kind: 'take', set: this.#set() }
    if (char === '.') return { kind: 'take', set: { ranges: lineBreak, isNegated: true } }
    if (char === '^') return { kind: 'hold', at: 'start' }
    if (char === '$') return this.#lineEnd()
    if (char === '\\') return this.#escape()
    if (char === '*' || char === '+' || char === '?') {
      this.#fail(`There is nothing before \`${char}\` to repeat. Write \`\\${char}\` for the character.`)
    }
    return taking(char.charCodeAt(0))
  }

  #lineEnd(): Node {
    const next = this.#next()
    if (next !== undefined && next !== '|' && next !== ')') {
      this.#fail('`$` is the end of a line, and something comes after it. Write `\\$` for the character.')
    }
    return { kind: 'hold', at: 'end' }
  }

  #group(): Node {
    if (this.#next() === '?') {
      if (this.#source[this.#at + 1] !== ':') {
        this.#fail('Look-around, named groups and flags are not supported, because matching must take linear time.')
      }
      this.#at += 2
    }
    this.#depth++
    if (this.#depth > maxDepth) this.#fail(`Groups are nested deeper than ${maxDepth}.`)
    const node = this.#either()
    if (this.#next() !== ')') this.#fail('Unterminated group. Write `\\(` for the character.')
    this.#at++
    this.#depth--
    return node
  }

  #escape(): Node {
    const char = this.#next()
    if (char === 'b' || char === 'B') {
      this.#at++
      return { kind: 'hold', at: char === 'b' ? 'edge' : 'inside' }
    }
    const set = this.#escaped()
    return { kind: 'take', set }
  }

  /** Parses an escape, inside or outside a set. */
  #escaped(): CharacterSet {
    const char = this.#next()
    if (char === undefined) this.#fail('Trailing backslash. Write two for the character.')
    this.#at++
    const named = Object.hasOwn(classes, char) ? classes[char] : undefined
    if (named !== undefined) return named
    if (char === 'x') return one(this.#hex(2))
    if (char === 'u') return one(this.#hex(4))
    const control = Object.hasOwn(controls, char) ? controls[char] : undefined
    if (control !== undefined) return one(control)
    if (/[1-9k]/.test(char)) this.#fail('Back-references are not supported, because matching must take linear time.')
    if (/[A-Za-z]/.test(char)) this.#fail(`\`\\${char}\` is not supported. Use \\d, \\w, \\s, \\b, sets and plain characters.`)
    return one(char.charCodeAt(0))
  }

  #hex(length: number): number {
    const digits = this.#source.slice(this.#at, this.#at + length)
    if (digits.length !== length || !/^[0-9a-f]+$/i.test(digits)) this.#fail(`\\x and \\u need two and four hexadecimal digits.`)
    this.#at += length
    return Number.parseInt(digits, 16)
  }

  #set(): CharacterSet {
    const isNegated = this.#next() === '^'
    if (isNegated) this.#at++
    const ranges: (readonly [number, number])[] = []
    for (let char = this.#next(); char !== ']'; char = this.#next()) {
      if (char === undefined) this.#fail('Unterminated set. Write `\\[` for the character.')
      const from = this.#setMember()
      const hasRange = this.#next() === '-' && ![']', undefined].includes(this.#source[this.#at + 1])
      if (!hasRange) {
        ranges.push(...plainRanges(from))
        continue
      }
      this.#at++
      const to = this.#setMember()
      const [low, high] = [from.ranges[0]?.[0], to.ranges[0]?.[0]]
      if (!isOne(from) || !isOne(to) || low === undefined || high === undefined || low > high) {
        this.#fail('Invalid range. A range goes from one character to a later one, such as `a-z`. Write `\\-` for the character.')
      }
      ranges.push([low, high])
    }
    this.#at++
    if (ranges.length === 0) this.#fail('Empty set. Add the characters to match.')
    return { ranges, isNegated }
  }

  #setMember(): CharacterSet {
    const char = this.#next()
    if (char === undefined) this.#fail('Unterminated set. Write `\\[` for the character.')
    this.#at++
    if (char !== '\\') return one(char.charCodeAt(0))
    if (this.#next() === 'b') {
      this.#at++
      return one(8)
    }
    return this.#escaped()
  }

  #repeated(part: Node): Node {
    const counts = this.#counts()
    if (counts === undefined) return part
    if (part.kind === 'hold') this.#fail('`^`, `$` and `\\b` cannot be repeated.')
    // Laziness does not matter for redaction.
    if (this.#next() === '?') this.#at++
    const more = this.#next()
    if (more === '*' || more === '+' || more === '?' || this.#isCounting()) {
      this.#fail('Two consecutive repetitions. Put the first in a group: `(?:a+)?`.')
    }
    return { kind: 'repeat', part, ...counts }
  }

  #isCounting(): boolean {
    return /^\{\d+(?:,\d*)?\}/.test(this.#source.slice(this.#at))
  }

  #counts(): { from: number; to: number } | undefined {
    const char = this.#next()
    const short = char === '*' ? [0, anyNumber] : char === '+' ? [1, anyNumber] : char === '?' ? [0, 1] : undefined
    if (short !== undefined) {
      this.#at++
      return { from: short[0] ?? 0, to: short[1] ?? 0 }
    }
    const [all, min, comma, max] = /^\{(\d+)(,?)(\d*)\}/.exec(this.#source.slice(this.#at)) ?? []
    if (all === undefined) return undefined
    this.#at += all.length
    const from = Number(min)
    const to = comma === '' ? from : max === '' ? anyNumber : Number(max)
    if (from > to) this.#fail(`\`${all}\` has its numbers in the wrong order.`)
    if (from > maxRepeats || (to !== anyNumber && to > maxRepeats)) {
      this.#fail(`\`${all}\` repeats more than ${maxRepeats} times. Use \`+\` or \`*\` for any number.`)
    }
    return { from, to }
  }

  #next(): string | undefined {
    return this.#source[this.#at]
  }

  #fail(why: string): never {
    throw new InvalidPattern(`Invalid pattern at character ${Math.min(this.#at + 1, this.#source.length)}: ${why}`)
  }
}

const one = (code: number): CharacterSet => ({ ranges: [[code, code]], isNegated: false })
const taking = (code: number): Node => ({ kind: 'take', set: one(code) })

function isOne({ ranges, isNegated }: CharacterSet): boolean {
  const [first] = ranges
  return !isNegated && ranges.length === 1 && first !== undefined && first[0] === first[1]
}

/** Resolves a negation, so that sets can be joined. */
function plainRanges({ ranges, isNegated }: CharacterSet): readonly (readonly [number, number])[] {
  if (!isNegated) return ranges
  const others: (readonly [number, number])[] = []
  let next = 0
  for (const [from, to] of ranges.toSorted((a, b) => a[0] - b[0])) {
    if (from > next) others.push([next, from - 1])
    next = Math.max(next, to + 1)
  }
  if (next <= 0xffff) others.push([next, 0xffff])
  return others
}
