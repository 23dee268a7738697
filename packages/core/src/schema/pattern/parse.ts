/** Part of a supported regular expression. */
export type Part =
  | { readonly kind: 'set'; readonly has: (char: string) => boolean; readonly samples: string }
  | { readonly kind: 'all'; readonly parts: readonly Part[] }
  | { readonly kind: 'either'; readonly branches: readonly Part[] }
  | { readonly kind: 'repeat'; readonly part: Part; readonly min: number; readonly max: number }
  | { readonly kind: 'start' | 'end' }

const maxLength = 500
const maxDepth = 20

/**
 * Parses a pattern; `undefined` for look-around, back-references, long patterns and invalid ones. Untrusted patterns are never run as
 * regular expressions, because they may not terminate.
 */
export function parsePattern(pattern: string): Part | undefined {
  if (pattern.length > maxLength) return undefined
  try {
    return new Parser(pattern).parse()
  } catch (error) {
    if (error instanceof Unsupported) return undefined
    throw error
  }
}

/** The pattern is not supported. */
class Unsupported extends Error {}

// In order of preference.
const letters = 'abcdefghijklmnopqrstuvwxyz'
const candidates = `${letters}${letters.toUpperCase()}1234567890-_./:@ #+,;=!?&%*()[]{}<>$'"~|^\`\\`

function setOf(has: (char: string) => boolean, first = ''): Part {
  const samples = Array.from(candidates).filter(has).join('') || first
  if (samples === '') throw new Unsupported()
  return { kind: 'set', has, samples }
}

const only = (char: string): Part => ({ kind: 'set', has: (other) => other === char, samples: char })

const classes: { readonly [letter: string]: RegExp } = { d: /^\d$/u, D: /^\D$/u, w: /^\w$/u, W: /^\W$/u, s: /^\s$/u, S: /^\S$/u }
const controls: { readonly [letter: string]: string } = { t: '\t', n: '\n', r: '\r', f: '\f', v: '\v', 0: '\0' }

type Test = (char: string) => boolean

class Parser {
  readonly #chars: readonly string[]
  #at = 0
  #depth = 0

  constructor(pattern: string) {
    this.#chars = Array.from(pattern)
  }

  parse(): Part {
    const part = this.#either()
    if (this.#at < this.#chars.length) throw new Unsupported()
    return part
  }

  get #next(): string | undefined {
    return this.#chars[this.#at]
  }

  #take(): string {
    const char = this.#next
    if (char === undefined) throw new Unsupported()
    this.#at++
    return char
  }

  #skip(text: string): boolean {
    if (
      !this.#chars
        .slice(this.#at, this.#at + text.length)
        .join('')
        .startsWith(text)
    )
      return false
    this.#at += text.length
    return true
  }

  #either(): Part {
    if (++this.#depth > maxDepth) throw new Unsupported()
    const branches = [this.#all()]
    while (this.#skip('|')) branches.push(this.#all())
    this.#depth--
    return branches.length === 1 && branches[0] !== undefined ? branches[0] : { kind: 'either', branches }
  }

  #all(): Part {
    const parts: Part[] = []
    while (this.#next !== undefined && this.#next !== '|' && this.#next !== ')') parts.push(this.#repeated())
    return { kind: 'all', parts }
  }

  #repeated(): Part {
    const part = this.#single()
    const times = this.#times()
    if (times === undefined) return part
    if (part.kind === 'start' || part.kind === 'end') throw new Unsupported()
    // Laziness does not matter here.
    this.#skip('?')
    const [min, max] = times
    if (min > max || '*+?{'.includes(this.#next ?? ' ')) throw new Unsupported()
    return { kind: 'repeat', part, min, max }
  }

  #times(): readonly [number, number] | undefined {
    if (this.#skip('*')) return [0, Number.POSITIVE_INFINITY]
    if (this.#skip('+')) return [1, Number.POSITIVE_INFINITY]
    if (this.#skip('?')) return [0, 1]
    if (!this.#skip('{')) return undefined
    let inside = ''
    while (this.#next !== '}') inside += this.#take()
    this.#take()
    const [, min, comma, max] = /^(\d{1,6})(,?)(\d{0,6})$/u.exec(inside) ?? []
    if (min === undefined || (comma === '' && max !== '')) throw new Unsupported()
    if (comma === '') return [Number(min), Number(min)]
    return [Number(min), max === '' ? Number.POSITIVE_INFINITY : Number(max)]
  }

  #single(): Part {
    const char = this.#take()
    if (char === '^') return { kind: 'start' }
    if (char === '$') return { kind: 'end' }
    if (char === '.') return setOf((other) => !/^[\n\r\u2028\u2029]$/u.test(other))
    if (char === '(') return this.#group()
    if (char === '[') return this.#class()
    if ('*+?{}])'.includes(char)) throw new Unsupported()
    if (char !== '\\') return only(char)
    const { test, literal } = this.#escaped(false)
    return literal === undefined ? setOf(test) : only(literal)
  }

  #group(): Part {
    if (this.#skip('?') && !this.#skip(':')) {
      if (!this.#skip('<') || this.#next === '=' || this.#next === '!') throw new Unsupported()
      while (this.#take() !== '>');
    }
    const part = this.#either()
    if (!this.#skip(')')) throw new Unsupported()
    return part
  }

  #class(): Part {
    const isNegated = this.#skip('^')
    const tests: Test[] = []
    let first = ''
    while (this.#next !== ']') {
      const { test, literal } = this.#inClass()
      const isRange = this.#next === '-' && this.#chars[this.#at + 1] !== ']'
      if (!isRange || literal === undefined) {
        tests.push(test)
        first ||= literal ?? ''
        continue
      }
      this.#take()
      const end = this.#inClass().literal
      if (end === undefined || codeOf(end) < codeOf(literal)) throw new Unsupported()
      tests.push((char) => codeOf(char) >= codeOf(literal) && codeOf(char) <= codeOf(end))
      first ||= literal
    }
    this.#take()
    const has: Test = (char) => tests.some((test) => test(char)) !== isNegated
    return setOf(has, isNegated ? '' : first)
  }

  #inClass(): Escaped {
    const char = this.#take()
    if (char === '\\') return this.#escaped(true)
    return { test: (other) => other === char, literal: char }
  }

  #escaped(isClass: boolean): Escaped {
    const char = this.#take()
    const known = Object.hasOwn(classes, char) ? classes[char] : undefined
    if (known !== undefined) return { test: (other) => known.test(other) }
    if (char === 'p' || char === 'P') return { test: this.#property(char) }
    const literal = this.#literal(char, isClass)
    return { test: (other) => other === literal, literal }
  }

  #literal(char: string, isClass: boolean): string {
    if (char === 'x') return this.#code(2)
    if (char === 'u') return this.#skip('{') ? this.#braced() : this.#code(4)
    if (isClass && char === 'b') return '\b'
    if (Object.hasOwn(controls, char)) return controls[char] ?? ''
    // Other escaped letters and digits have a special meaning or none.
    if (/^\w$/u.test(char)) throw new Unsupported()
    return char
  }

  #code(digits: number): string {
    const hex = Array.from({ length: digits }, () => this.#take()).join('')
    if (!/^[\da-f]+$/iu.test(hex)) throw new Unsupported()
    return String.fromCharCode(Number.parseInt(hex, 16))
  }

  #braced(): string {
    let hex = ''
    while (this.#next !== '}') hex += this.#take()
    this.#take()
    const code = Number.parseInt(hex, 16)
    if (!/^[\da-f]{1,6}$/iu.test(hex) || code > 0x10ffff) throw new Unsupported()
    return String.fromCodePoint(code)
  }

  #property(letter: 'p' | 'P'): Test {
    if (!this.#skip('{')) throw new Unsupported()
    let name = ''
    while (this.#next !== '}') name += this.#take()
    this.#take()
    const test = propertyTest(letter, name)
    return (char) => test.test(char)
  }
}

interface Escaped {
  readonly test: Test
  /** Set for a single character. */
  readonly literal?: string
}

const codeOf = (char: string): number => char.codePointAt(0) ?? 0

function propertyTest(letter: 'p' | 'P', name: string): RegExp {
  if (!/^\w+(?:=\w+)?$/u.test(name)) throw new Unsupported()
  try {
    return new RegExp(`^\\${letter}{${name}}$`, 'u')
  } catch {
    throw new Unsupported()
  }
}
