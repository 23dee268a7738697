import { ToolError } from '@unfold-mcp/server'

const constants: { readonly [name: string]: number } = { pi: Math.PI, e: Math.E }

const functions: { readonly [name: string]: (...values: number[]) => number } = {
  sqrt: Math.sqrt,
  abs: Math.abs,
  round: Math.round,
  floor: Math.floor,
  ceil: Math.ceil,
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  ln: Math.log,
  log: Math.log10,
  min: Math.min,
  max: Math.max,
}

const operations: { readonly [sign: string]: (a: number, b: number) => number } = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '%': (a, b) => a % b,
}

/** Evaluates an arithmetic expression with a parser, never as code. */
export function evaluate(text: string): number {
  const tokens = tokensOf(text)
  let at = 0
  const take = (...wanted: string[]): string | undefined => (wanted.includes(tokens[at] ?? '') ? tokens[at++] : undefined)
  const expect = (wanted: string): void => {
    if (take(wanted) === undefined) throw unexpected(tokens[at], wanted)
  }
  const chain = (signs: readonly string[], operand: () => number): number => {
    let value = operand()
    for (let sign = take(...signs); sign !== undefined; sign = take(...signs))
      value = operations[sign]?.(value, operand()) ?? Number.NaN
    return value
  }
  const sum = (): number => chain(['+', '-'], product)
  const product = (): number => chain(['*', '/', '%'], signed)
  const signed = (): number => (take('-') !== undefined ? -signed() : take('+') !== undefined ? signed() : power())
  // The sign has lower precedence than a power, -2^2, and may start an exponent, 2^-2.
  const power = (): number => {
    const base = atom()
    return take('^') === undefined ? base : base ** signed()
  }
  const atom = (): number => {
    if (take('(') !== undefined) {
      const value = sum()
      expect(')')
      return value
    }
    const token = tokens[at++]
    if (token !== undefined && /^[\d.]/u.test(token)) return numberFrom(token)
    if (token !== undefined && Object.hasOwn(constants, token)) return constants[token] ?? Number.NaN
    const compute = token !== undefined && Object.hasOwn(functions, token) ? functions[token] : undefined
    if (compute === undefined) throw unexpected(token, 'a number')
    expect('(')
    const values = [sum()]
    while (take(',') !== undefined) values.push(sum())
    expect(')')
    return compute(...values)
  }
  const value = sum()
  if (at < tokens.length) throw unexpected(tokens[at], 'an operator')
  return value
}

function tokensOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[a-z]+|[\d.]+(?:e[+-]?\d+)?|\S/gu) ?? []
}

function numberFrom(token: string): number {
  const value = Number(token)
  if (Number.isNaN(value)) throw new ToolError(`"${token}" is not a number. Examples: 12, 0.5, 3e8.`)
  return value
}

function unexpected(token: string | undefined, wanted: string): Error {
  const found = token === undefined ? 'it ends' : `it has "${token}"`
  const known = wanted === 'a number' ? ` Functions: ${Object.keys(functions).join(', ')}.` : ''
  return new ToolError(`The expression should have ${wanted.length === 1 ? `"${wanted}"` : wanted} where ${found}.${known}`)
}
