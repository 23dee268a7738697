import type { Toolbox } from '@unfold-mcp/server'
import { z } from 'zod'
import { rounded } from './rounding.ts'
import type { Shelf } from './shelves.ts'

const systems = {
  binary: 2,
  ternary: 3,
  octal: 8,
  decimal: 10,
  duodecimal: 12,
  hexadecimal: 16,
  vigesimal: 20,
  base36: 36,
} as const

const whole = z.int().min(0).max(1_000_000_000)
const pair = z.object({ a: whole, b: whole })
const single = z.object({ n: whole })

export function addNumbers(workshop: Toolbox<Shelf>): void {
  const shelf = { group: 'numbers', readOnly: true } as const

  const names = Object.keys(systems) as (keyof typeof systems)[]
  for (const from of names) {
    for (const to of names.filter((name) => name !== from)) {
      const description = `Convert a whole number from ${from} (base ${systems[from]}) to ${to} (base ${systems[to]}).`
      workshop.tool(
        `${from}_to_${to}`,
        { ...shelf, description, inputSchema: z.object({ digits: z.string().min(1).max(50) }) },
        ({ digits }) => read(digits, systems[from]).toString(systems[to]),
      )
    }
  }

  const written = z.object({ numeral: z.string().regex(/^[IVXLCDM]+$/iu) })
  workshop.tool(
    'to_roman_numeral',
    { ...shelf, description: 'Write a number as a Roman numeral.', inputSchema: z.object({ n: z.int().min(1).max(3_999) }) },
    ({ n }) => roman(n),
  )
  workshop.tool(
    'from_roman_numeral',
    { ...shelf, description: 'Read a Roman numeral.', inputSchema: written },
    ({ numeral }) => ({
      n: arabic(numeral),
    }),
  )

  workshop.tool(
    'greatest_common_divisor',
    { ...shelf, description: 'Greatest common divisor (gcd) of two numbers.', inputSchema: pair },
    ({ a, b }) => ({ gcd: gcd(a, b) }),
  )
  workshop.tool(
    'least_common_multiple',
    { ...shelf, description: 'Least common multiple (lcm) of two numbers.', inputSchema: pair },
    ({ a, b }) => ({
      lcm: a === 0 || b === 0 ? 0 : (a / gcd(a, b)) * b,
    }),
  )
  workshop.tool('prime_factors', { ...shelf, description: 'Factorise a number into primes.', inputSchema: single }, ({ n }) => ({
    factors: factors(n),
  }))
  workshop.tool('is_prime', { ...shelf, description: 'Say whether a number is prime.', inputSchema: single }, ({ n }) => ({
    prime: n > 1 && factors(n).length === 1,
  }))
  workshop.tool(
    'next_prime',
    { ...shelf, description: 'The next prime number above a number.', inputSchema: single },
    ({ n }) => {
      let next = n + 1
      while (next < 2 || factors(next).length !== 1) next++
      return { prime: next }
    },
  )
  workshop.tool(
    'divisors',
    {
      ...shelf,
      description: 'All divisors of a number up to a million.',
      inputSchema: z.object({ n: z.int().min(1).max(1_000_000) }),
    },
    ({ n }) => ({
      divisors: Array.from({ length: n }, (_, index) => index + 1).filter((divisor) => n % divisor === 0),
    }),
  )
  workshop.tool(
    'factorial',
    { ...shelf, description: 'Factorial of a number, exactly.', inputSchema: z.object({ n: z.int().min(0).max(500) }) },
    ({ n }) => {
      let made = 1n
      for (let factor = 2n; factor <= BigInt(n); factor++) made *= factor
      return made.toString()
    },
  )
  workshop.tool(
    'fibonacci',
    {
      ...shelf,
      description: 'A number of the Fibonacci sequence, exactly.',
      inputSchema: z.object({ n: z.int().min(0).max(1_000) }),
    },
    ({ n }) => {
      let [one, next] = [0n, 1n]
      for (let step = 0; step < n; step++) [one, next] = [next, one + next]
      return one.toString()
    },
  )
  workshop.tool(
    'combinations',
    { ...shelf, description: 'How many ways there are to choose k of n, in any order.', inputSchema: chosen },
    ({ n, k }) => product(n, k, true),
  )
  workshop.tool(
    'permutations',
    { ...shelf, description: 'How many ways there are to arrange k of n.', inputSchema: chosen },
    ({ n, k }) => product(n, k, false),
  )
  workshop.tool('digit_sum', { ...shelf, description: 'Sum of the digits of a number.', inputSchema: single }, ({ n }) => ({
    sum: Array.from(String(n)).reduce((sum, digit) => sum + Number(digit), 0),
  }))

  const two = (first: string, second: string) => z.object({ [first]: z.number(), [second]: z.number() })
  const compute: readonly (readonly [string, string, string, string, (a: number, b: number) => number])[] = [
    ['percent_of', 'What a percentage of a value is.', 'percent', 'value', (percent, value) => (percent / 100) * value],
    [
      'percent_change',
      'By how many per cent a value changed.',
      'before',
      'after',
      (before, after) => ((after - before) / Math.abs(before)) * 100,
    ],
    ['percent_share', 'How many per cent of the whole a part is.', 'part', 'whole', (part, all) => (part / all) * 100],
    ['power', 'Raise a number to a power.', 'base', 'exponent', (base, exponent) => base ** exponent],
    ['root', 'The root of a number, of any degree.', 'value', 'degree', (value, degree) => value ** (1 / degree)],
    ['logarithm', 'The logarithm of a value to any base.', 'value', 'base', (value, base) => Math.log(value) / Math.log(base)],
    [
      'remainder',
      'The remainder of a division (modulo), never negative.',
      'value',
      'divisor',
      (value, divisor) => ((value % divisor) + divisor) % divisor,
    ],
    [
      'round_to_multiple',
      'Round a value to the nearest multiple of a step.',
      'value',
      'step',
      (value, step) => Math.round(value / step) * step,
    ],
  ]
  for (const [name, description, first, second, work] of compute) {
    workshop.tool(name, { ...shelf, description, inputSchema: two(first, second) }, (given) => {
      const value = work(given[first] ?? 0, given[second] ?? 0)
      if (!Number.isFinite(value))
        throw new Error(`${name} has no value for ${first} ${given[first]} and ${second} ${given[second]}.`)
      return { value: rounded(value) }
    })
  }
}

const chosen = z.object({ n: z.int().min(0).max(500), k: z.int().min(0).max(500) })

function product(n: number, k: number, anyOrder: boolean): string {
  if (k > n) return '0'
  let ways = 1n
  for (let step = 0; step < k; step++) ways = (ways * BigInt(n - step)) / (anyOrder ? BigInt(step + 1) : 1n)
  return ways.toString()
}

function read(digits: string, base: number): bigint {
  let value = 0n
  for (const digit of digits.toLowerCase()) {
    const worth = Number.parseInt(digit, 36)
    if (Number.isNaN(worth) || worth >= base) throw new Error(`"${digit}" is not a digit in base ${base}.`)
    value = value * BigInt(base) + BigInt(worth)
  }
  return value
}

const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b))

function factors(n: number): readonly number[] {
  const found: number[] = []
  let rest = n
  for (let factor = 2; factor * factor <= rest; factor++) {
    while (rest % factor === 0 && rest > 0) {
      found.push(factor)
      rest /= factor
    }
  }
  return rest > 1 ? [...found, rest] : found
}

const numerals = { M: 1_000, CM: 900, D: 500, CD: 400, C: 100, XC: 90, L: 50, XL: 40, X: 10, IX: 9, V: 5, IV: 4, I: 1 } as const

function roman(n: number): string {
  let rest = n
  let made = ''
  for (const [numeral, value] of Object.entries(numerals)) {
    made += numeral.repeat(Math.floor(rest / value))
    rest %= value
  }
  return made
}

function arabic(numeral: string): number {
  const values = Array.from(numeral.toUpperCase()).map((letter) => numerals[letter as keyof typeof numerals])
  const sum = values.reduce<number>((total, value, index) => total + (value < (values[index + 1] ?? 0) ? -value : value), 0)
  if (roman(sum) !== numeral.toUpperCase())
    throw new Error(`"${numeral}" is not how a number is written; ${sum} is ${roman(sum)}.`)
  return sum
}
