/** Joins a property path with dots; steps that need quoting become JSON strings. */
export function nameOf(path: readonly string[]): string {
  return path.map((step) => (isPlainStep(step) ? step : quotedStep(step))).join('.')
}

/** The path joined with plain dots; undefined if that would be ambiguous. */
export function looseNameOf(path: readonly string[]): string | undefined {
  return path.every((step) => step !== '' && !odd.test(step)) ? path.join('.') : undefined
}

/** Unquotes a step. */
export function stepOf(text: string): string {
  if (!text.startsWith('"')) return text
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'string' ? value : text
  } catch {
    return text
  }
}

// Characters that end a name, start a quoted step, or are invisible.
const odd = /["=:\p{C}\p{Zl}\p{Zp}]/u

const isPlainStep = (step: string): boolean => step !== '' && !odd.test(step) && !step.includes('.')

const quotedStep = (step: string): string => visibleJson(step)

/** JSON without invisible characters. */
export function visibleJson(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null'
  return text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, (char) =>
    Array.from({ length: char.length }, (_, index) => `\\u${char.charCodeAt(index).toString(16).padStart(4, '0')}`).join(''),
  )
}

export interface NamedWord {
  readonly name: string
  readonly separator: '' | '=' | ':='
  readonly value: string
}

// A name ends at the first `=` or `:=` outside a quoted step. The alternatives are disjoint, so there is no backtracking.
const nameEnd = /^((?:[^"=:]|:(?!=)|"(?:[^"\\]|\\.)*")*)(:?=)/su

/** Splits `name=value` and `name:=json`. */
export function namedWord(word: string): NamedWord {
  const found = nameEnd.exec(word)
  if (found === null) return { name: word, separator: '', value: '' }
  const [whole, name = '', separator] = found
  return { name, separator: separator === ':=' ? ':=' : '=', value: word.slice(whole.length) }
}
