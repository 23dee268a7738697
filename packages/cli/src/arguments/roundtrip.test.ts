import { execFileSync } from 'node:child_process'
import { canonicalJson, type JsonSchema, type Tool } from '@unfold-mcp/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { needs } from '../../../../test/needs.ts'
import { propertyRuns } from '../../../../test/runs.ts'
import { toArgv } from './argv.ts'
import { parseToolArguments } from './parse.ts'
import { shellQuote } from './quote.ts'

type Args = { readonly [name: string]: unknown }

const noSources = {
  readFile: async () => {
    throw new Error('no file is named')
  },
  readStdin: async () => {
    throw new Error('standard input is not named')
  },
}

async function parsedBack(tool: Tool, argv: readonly string[]): Promise<unknown> {
  const { args, problems } = await parseToolArguments(tool, argv, noSources)
  const wrong = problems.filter(({ kind }) => kind !== 'missing')
  return wrong.length === 0 ? args : wrong
}

/** A schema, and a valid value. */
interface Pair {
  readonly schema: JsonSchema
  readonly value: unknown
}

/** Any text, including characters that no command line can contain. */
const text = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 5 }).map((codes) => String.fromCharCode(...codes)),
  fc.constantFrom(
    '',
    '-',
    '--',
    '--json',
    '-5',
    '@file',
    '012',
    'true',
    'null',
    '[1]',
    '["a"]',
    '{}',
    'a=b',
    'a:=1',
    "it's",
    '$HOME `x`',
  ),
)

const name = fc.oneof(
  fc.constantFrom('a', 'b', 'x', 'no-x', 'a.b', 'a-b', 'a_b', 'json', 'args', 'help', 'arg', 'arg:a', '__proto__', 'constructor'),
  fc.constantFrom('', '-', '--', '--help', 'my param', 'a=b', 'a:', ':=', '"a"', '"', '.', 'a.', '=', 'no-', 'toString'),
  text,
)

const number = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(1e21, 2 ** 60, 0.1, 1e-7, -1e300),
)

const value = fc.jsonValue({ maxDepth: 2 })

const withValue = (schema: JsonSchema, values: fc.Arbitrary<unknown>): fc.Arbitrary<Pair> =>
  values.map((given) => ({ schema, value: given }))

/** Own properties with any names. */
const objectOf = (entries: readonly (readonly [string, unknown])[]): Args => Object.fromEntries(entries)

const { object } = fc.letrec<{ pair: Pair; object: Pair }>((tie) => ({
  pair: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    withValue({ type: 'string' }, text),
    withValue({ type: 'string', format: 'textarea' }, text),
    withValue({ type: ['string', 'null'] }, fc.oneof(text, fc.constant(null))),
    withValue({ type: 'number' }, number),
    withValue({ type: 'integer' }, fc.oneof(fc.maxSafeInteger(), fc.constantFrom(1e21, 2 ** 60))),
    withValue({ type: 'boolean' }, fc.boolean()),
    withValue({ type: ['boolean', 'null'] }, fc.constantFrom(true, false, null)),
    withValue(
      { anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }, { type: 'null' }] },
      fc.oneof(text, number, fc.boolean()),
    ),
    withValue({ type: ['integer', 'boolean', 'null'] }, fc.oneof(fc.integer(), fc.constantFrom(true, false, null))),
    withValue({}, value),
    withValue({ type: 'array', prefixItems: [{}] }, fc.array(value, { maxLength: 3 })),
    fc
      .uniqueArray(value, { minLength: 1, maxLength: 4, comparator: (a, b) => canonicalJson(a) === canonicalJson(b) })
      .chain((values) => withValue({ enum: values }, fc.constantFrom(...values))),
    fc.record({ item: tie('pair'), count: fc.nat(3) }).map(({ item, count }) => ({
      schema: { type: 'array', items: item.schema },
      value: Array.from({ length: count }, () => item.value),
    })),
    fc.record({ first: tie('pair'), second: tie('pair') }).map(({ first, second }) => ({
      schema: { anyOf: [first.schema, second.schema] },
      value: first.value,
    })),
    fc
      .array(fc.tuple(name, tie('pair')), { maxLength: 3 })
      .chain((entries) =>
        withValue(
          { type: 'object', additionalProperties: entries[0]?.[1].schema ?? true },
          fc.constant(objectOf(entries.map(([key]) => [key, entries[0]?.[1].value]))),
        ),
      ),
    tie('object'),
  ),
  object: fc
    .record({
      entries: fc.uniqueArray(fc.tuple(name, tie('pair'), fc.boolean()), { maxLength: 5, selector: ([key]) => key }),
      others: fc.constantFrom<JsonSchema>({}, { additionalProperties: false }, { additionalProperties: true }),
    })
    .map(({ entries, others }) => ({
      schema: { type: 'object', properties: objectOf(entries.map(([key, inner]) => [key, inner.schema])), ...others },
      value: objectOf(entries.flatMap(([key, inner, isGiven]) => (isGiven ? [[key, inner.value]] : []))),
    })),
}))

const call = object.map(({ schema, value: args }) => ({
  tool: { name: 'act', inputSchema: { ...schema, type: 'object' as const } },
  args: args as Args,
}))

/** A value after JSON serialization: no negative zero, texts unchanged. */
const sent = (args: unknown): string => canonicalJson(args)

describe('arguments as command line words', () => {
  test('round-trip for any schema and any valid value', async () => {
    await fc.assert(
      fc.asyncProperty(call, async ({ tool, args }) => {
        expect(sent(await parsedBack(tool, toArgv(tool, args)))).toBe(sent(args))
      }),
      propertyRuns({ long: 3_000, sample: 300 }),
    )
  })

  test('round-trip also if the tool does not know or accept them', async () => {
    await fc.assert(
      fc.asyncProperty(call, fc.dictionary(name, value, { maxKeys: 4 }), async ({ tool }, args) => {
        expect(sent(await parsedBack(tool, toArgv(tool, args)))).toBe(sent(args))
      }),
      propertyRuns({ long: 1_000, sample: 200 }),
    )
  })

  test('can be passed to a process: no NUL, no unpaired surrogates', () => {
    fc.assert(
      fc.property(call, ({ tool, args }) => {
        for (const word of toArgv(tool, args)) expect(word).not.toMatch(/\0|\p{Cs}/u)
      }),
      propertyRuns({ long: 1_000, sample: 200 }),
    )
  })

  test('survive a real shell', async () => {
    const calls = fc.sample(call, { numRuns: 60, seed: 7 })
    for (const { tool, args } of calls) {
      const argv = toArgv(tool, args)
      expect(wordsFrom('bash', argv)).toEqual(argv)
      expect(sent(await parsedBack(tool, wordsFrom('bash', argv)))).toBe(sent(args))
    }
  })

  test('are idiomatic', () => {
    const tool: Tool = {
      name: 'create_issue',
      inputSchema: {
        type: 'object',
        properties: {
          title: { type: 'string' },
          labels: { type: 'array', items: { type: 'string' } },
          draft: { type: 'boolean' },
          notify: { type: 'boolean' },
          json: { type: 'boolean' },
          count: { type: 'integer' },
          user: { type: 'object', properties: { name: { type: 'string' } } },
          id: { type: ['string', 'number'] },
          env: { type: 'object', additionalProperties: { type: 'string' } },
        },
      },
    }
    const args = {
      title: "It's broken",
      labels: ['bug', 'ui'],
      draft: true,
      notify: false,
      json: false,
      count: -1,
      user: { name: 'Ada' },
      id: 7,
      env: { HOME: '/' },
      later: undefined,
      other: [1],
    }
    expect(shellQuote(toArgv(tool, args))).toBe(
      `--args '{"other":[1]}' --title 'It'\\''s broken' --labels bug --labels ui --draft --no-notify --arg:json=false --count=-1 --user.name Ada id:=7 --env.HOME /`,
    )
  })
})

/** The words that a shell reads from a quoted line. */
function wordsFrom(shell: string, argv: readonly string[], env: NodeJS.ProcessEnv = process.env): readonly string[] {
  if (argv.length === 0) return []
  // Bash treats a socket as stdin as a remote shell, and would read the startup files of the user.
  const bare = shell === 'bash' ? '--norc' : '-f'
  const printed = execFileSync(shell, [bare, '-c', `printf '%s\\0' ${shellQuote(argv)}`], { encoding: 'utf8', env })
  return printed.split('\0').slice(0, -1)
}

const zsh = needs('zsh')

describe('a quoted line', () => {
  const awkward = [
    '',
    'plain',
    'a b',
    "it's",
    '"',
    '\\',
    '\\n',
    '$HOME',
    '`id`',
    '!x',
    '*',
    '~',
    '=ls',
    '#c',
    'a\nb\r\t',
    '\u001b[31m',
    '\u202eabc\u2028',
    'é日本\u{1f600}',
    '-n',
    '--',
    "$'x'",
    "\u0007'\\x41",
    '\u200bff',
  ]

  test('round-trips in bash in any locale', () => {
    expect(wordsFrom('bash', awkward)).toEqual(awkward)
    expect(wordsFrom('bash', awkward, { PATH: process.env.PATH, LC_ALL: 'C' })).toEqual(awkward)
  })

  test.skipIf(zsh.isMissing)(`round-trips in zsh${zsh.note}`, () => {
    expect(wordsFrom('zsh', awkward)).toEqual(awkward)
  })

  test('round-trips in bash for any text', () => {
    const any = fc.string({ unit: 'binary', maxLength: 8 }).map((word) => word.replaceAll('\0', ''))
    const words = fc.sample(any, { numRuns: 500, seed: 11 })
    expect(wordsFrom('bash', words)).toEqual(words)
  })

  test('is safe for a terminal', () => {
    expect(shellQuote(awkward)).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u)
  })

  test('leaves plain words unquoted', () => {
    expect(shellQuote(['--user.name', 'a/b:c,d@e%f+1', 'x=y'])).toBe('--user.name a/b:c,d@e%f+1 x=y')
  })
})
