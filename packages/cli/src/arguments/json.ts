import { errorMessage } from '../base/error-message.ts'

export type JsonRead = { readonly value: unknown } | { readonly problem: string }

const maxDepth = 500

/** Parses JSON. Rejects numbers that would lose digits, and nesting that cannot be serialised again. */
export function readJson(text: string): JsonRead {
  try {
    const value: unknown = JSON.parse(text)
    const problem = findJsonProblem(text)
    return problem === undefined ? { value } : { problem }
  } catch (error) {
    return { problem: errorMessage(error) }
  }
}

function findJsonProblem(text: string): string | undefined {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? ''
    if (char === '"') at = endOfString(text, at)
    else if (char === '[' || char === '{') depth++
    else if (char === ']' || char === '}') depth--
    else if (char === '-' || (char >= '0' && char <= '9')) {
      const end = endOfNumber(text, at)
      const digits = text.slice(at, end)
      if (!keepsDigits(digits)) return precisionProblem(digits)
      at = end - 1
    }
    if (depth > maxDepth) return `nested deeper than ${maxDepth} levels`
  }
  return undefined
}

function endOfString(text: string, start: number): number {
  let at = start + 1
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at
}

function endOfNumber(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && '0123456789.eE+-'.includes(text[at] ?? '')) at++
  return at
}

/** Whether an integer survives conversion to a double. Fractions and exponents are not checked. */
export function keepsDigits(digits: string): boolean {
  const value = Number(digits)
  if (!Number.isFinite(value)) return false
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER || !/^[+-]?\d+$/u.test(digits)) return true
  return writtenOut(value) === digits.replace(/^\+/u, '').replace(/^(-?)0+/u, '$1')
}

/** Integer without an exponent. */
function writtenOut(value: number): string {
  const [mantissa = '', exponent] = String(value).split('e+')
  if (exponent === undefined) return mantissa
  const [whole = '', fraction = ''] = mantissa.split('.')
  return whole + fraction.padEnd(Number(exponent), '0')
}

export function precisionProblem(digits: string): string {
  const short = digits.length > 40 ? `${digits.slice(0, 40)}…` : digits
  if (!Number.isFinite(Number(digits))) return `${short} is too large for a number`
  return `${short} exceeds ±${Number.MAX_SAFE_INTEGER} and would lose precision`
}
