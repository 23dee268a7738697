/** How a path of properties is written in one word: steps joined by dots, odd ones as JSON strings. */
export function nameOf(path: readonly string[]): string {
  return path.map((step) => (isPlainStep(step) ? step : quotedStep(step))).join('.')
}

/** The path as people would write it, dots and all; undefined when that could be read in another way. */
export function looseNameOf(path: readonly string[]): string | undefined {
  return path.every((step) => step !== '' && !odd.test(step)) ? path.join('.') : undefined
}

/** The step that a word stands for: a JSON string is what it says, anything else is itself. */
export function stepOf(text: string): string {
  if (!text.startsWith('"')) return text
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'string' ? value : text
  } catch {
    return text
  }
}

// What would end a name, begin a quoted step, or not be seen.
const odd = /["=:\p{C}\p{Zl}\p{Zp}]/u

const isPlainStep = (step: string): boolean => step !== '' && !odd.test(step) && !step.includes('.')

const quotedStep = (step: string): string => visibleJson(step)

/** JSON in which every character can be seen, typed and passed on. */
export function visibleJson(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null'
  return text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, (char) =>
    Array.from({ length: char.length }, (_, index) => `\\u${char.charCodeAt(index).toString(16).padStart(4, '0')}`).join(''),
  )
}

/** A word taken apart. */
export interface NamedWord {
  readonly name: string
  readonly separator: '' | '=' | ':='
  readonly value: string
}

// A name ends at the first `=` or `:=` outside a quoted step. Each way on begins differently, so this never looks twice.
const nameEnd = /^((?:[^"=:]|:(?!=)|"(?:[^"\\]|\\.)*")*)(:?=)/su

/** Splits `name=value` and `name:=json`. */
export function namedWord(word: string): NamedWord {
  const found = nameEnd.exec(word)
  if (found === null) return { name: word, separator: '', value: '' }
  const [whole, name = '', separator] = found
  return { name, separator: separator === ':=' ? ':=' : '=', value: word.slice(whole.length) }
}
