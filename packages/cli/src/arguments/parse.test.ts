import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonSchema, Tool } from '@unfold-mcp/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ArgumentSources, type ParsedArguments, parseToolArguments } from './parse.ts'

const tool = (properties: JsonSchema, rest: JsonSchema = {}): Tool => ({
  name: 'act',
  inputSchema: { ...rest, type: 'object', properties },
})

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'arguments-'))
})
afterAll(() => rm(folder, { recursive: true, maxRetries: 10, retryDelay: 100 }))

const sources = (stdin = ''): ArgumentSources => ({
  readFile: (path) => readFile(path, 'utf8'),
  readStdin: async () => stdin,
})

const parsed = (given: Tool, argv: readonly string[], stdin?: string): Promise<ParsedArguments> =>
  parseToolArguments(given, argv, sources(stdin))

async function argsOf(given: Tool, ...argv: readonly string[]): Promise<ParsedArguments['args']> {
  const { args, problems } = await parsed(given, argv)
  expect(problems).toEqual([])
  return args
}

async function messagesOf(given: Tool, ...argv: readonly string[]): Promise<readonly string[]> {
  return (await parsed(given, argv)).problems.map(({ message }) => message)
}

const issue = tool(
  {
    title: { type: 'string', description: 'What it is about' },
    labels: { type: 'array', items: { type: 'string' } },
    draft: { type: 'boolean' },
    count: { type: 'integer' },
    ratio: { type: 'number' },
    state: { enum: ['open', 'closed'] },
    user: {
      type: 'object',
      properties: { name: { type: 'string' }, age: { type: 'integer' }, tags: { type: 'array', items: { type: 'string' } } },
      required: ['name'],
    },
  },
  { required: ['title'] },
)

describe('argument syntax', () => {
  test.each<[string, readonly string[]]>([
    ['a flag and a word', ['--title', 'It broke']],
    ['a flag with its value', ['--title=It broke']],
    ['a name and a value', ['title=It broke']],
    ['a name and JSON', ['title:="It broke"']],
    ['a flag and JSON', ['--title:="It broke"']],
    ['the escape for any name', ['--arg:title', 'It broke']],
    ['all at once', ['--args', '{"title":"It broke"}']],
    ['all at once with its value', ['--args={"title":"It broke"}']],
  ])('%s', async (_, argv) => {
    expect(await argsOf(issue, ...argv)).toEqual({ title: 'It broke' })
  })

  test('--args reads a file and stdin', async () => {
    const file = join(folder, 'args.json')
    await writeFile(file, '\uFEFF{"title":"from a file"}')
    expect(await argsOf(issue, '--args', `@${file}`)).toEqual({ title: 'from a file' })
    const given = { problems: [], missing: [], args: { title: 'from a pipe' } }
    expect(await parsed(issue, ['--args', '-'], '{"title":"from a pipe"}')).toEqual(given)
    expect(await parsed(issue, ['-'], '{"title":"from a pipe"}')).toEqual(given)
  })

  test('--args before the name of the tool is used', async () => {
    const { args } = await parseToolArguments(issue, ['--count=2'], { ...sources(), values: ['{"title":"a","count":1}'] })
    expect(args).toEqual({ title: 'a', count: 2 })
  })

  test('later values replace earlier ones, and single parameters replace --args', async () => {
    expect(await argsOf(issue, '--title', 'a', 'title=b')).toEqual({ title: 'b' })
    expect(await argsOf(issue, '--title', 'a', '--args', '{"title":"b","count":1}')).toEqual({ title: 'a', count: 1 })
    expect(await argsOf(issue, '--args', '{"title":"a","count":1}', '--args', '{"title":"b"}')).toEqual({ title: 'b', count: 1 })
  })

  test('hyphens and underscores are interchangeable unless ambiguous', async () => {
    expect(await argsOf(tool({ repo_name: { type: 'string' } }), '--repo-name', 'x')).toEqual({ repo_name: 'x' })
    const both = tool({ 'a-b': { type: 'string' }, a_b: { type: 'string' } })
    expect(await argsOf(both, '--a-b', 'x', '--a_b', 'y')).toEqual({ 'a-b': 'x', a_b: 'y' })
  })

  test('no arguments are valid, and defaults are left to the server', async () => {
    expect(await argsOf(tool({ size: { type: 'integer', default: 5 } }))).toEqual({})
  })
})

describe('values are converted by the schema', () => {
  test.each<[string, JsonSchema, string, unknown]>([
    ['digits for text', { type: 'string' }, '012', '012'],
    ['true for text', { type: 'string' }, 'true', 'true'],
    ['null for text that may be null', { type: ['string', 'null'] }, 'null', 'null'],
    ['JSON for text', { type: 'string' }, '{"a":1}', '{"a":1}'],
    ['a file name for text', { type: 'string' }, '@alice', '@alice'],
    ['nothing for text', { type: 'string' }, '', ''],
    ['an integer', { type: 'integer' }, '12', 12],
    ['an integer with zeros before it', { type: 'integer' }, '007', 7],
    ['a negative integer', { type: 'integer' }, '-12', -12],
    ['a round number for an integer', { type: 'integer' }, '1e3', 1_000],
    ['a number', { type: 'number' }, '-1.5e-3', -0.0015],
    ['a number without its zero', { type: 'number' }, '.5', 0.5],
    ['zero, never negative', { type: 'number' }, '-0', 0],
    ['a large number with all its digits', { type: 'number' }, '100000000000000000000000', 1e23],
    ['null for a number that may be null', { type: ['number', 'null'] }, 'null', null],
    ['yes', { type: 'boolean' }, 'yes', true],
    ['false', { type: 'boolean' }, 'false', false],
    ['a choice', { enum: ['open', 'closed'] }, 'open', 'open'],
    ['a choice of a number', { enum: [1, 2] }, '2', 2],
    ['a choice of a number written otherwise', { enum: [1, 2] }, '2.0', 2],
    ['a choice of a text that looks like the number beside it', { enum: [1, '1'] }, '1', '1'],
    ['a choice of null', { enum: ['a', null] }, 'null', null],
    ['a choice of an object', { enum: [{ a: 1, b: 2 }] }, '{"b":2,"a":1}', { a: 1, b: 2 }],
    ['null for a choice that may be null', { enum: ['a'], nullable: true }, 'null', null],
    ['a constant', { const: 7 }, '7', 7],
    ['text or number: text', { type: ['string', 'number'] }, '12', '12'],
    ['number or text, in a union: text', { anyOf: [{ type: 'number' }, { type: 'string' }] }, '12', '12'],
    [
      'number or short text: number when the text is too long',
      { anyOf: [{ type: 'string', maxLength: 1 }, { type: 'number' }] },
      '12',
      12,
    ],
    ['number or boolean', { type: ['boolean', 'number'] }, '12', 12],
    ['boolean or number', { type: ['number', 'boolean'] }, 'true', true],
    ['choice or number', { anyOf: [{ enum: ['auto'] }, { type: 'number' }] }, 'auto', 'auto'],
    ['number where null is allowed too', { anyOf: [{ type: 'number' }, { type: 'boolean' }, { type: 'null' }] }, 'null', null],
    ['text or list: a JSON list', { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] }, '["a"]', ['a']],
    ['text or list: what only begins like one', { anyOf: [{ type: 'string' }, { type: 'array' }] }, '[wip] x', '[wip] x'],
    ['text or object: a JSON object', { type: ['string', 'object'] }, '{"a":1}', { a: 1 }],
    ['anything: text', {}, '12', '12'],
    ['anything: a JSON object', {}, '{"a":[1]}', { a: [1] }],
    ['a tuple', { type: 'array', prefixItems: [{}] }, '[1,"a"]', [1, 'a']],
    ['an object', { type: 'object' }, '{"__proto__":1}', JSON.parse('{"__proto__":1}')],
    ['null for an object that may be null', { type: ['object', 'null'] }, 'null', null],
  ])('%s', async (_, schema, word, value) => {
    const args = await argsOf(tool({ x: schema }), `--x=${word}`)
    expect(JSON.stringify(args)).toBe(JSON.stringify({ x: value }))
    expect(await argsOf(tool({ x: schema }), `x=${word}`)).toEqual(args)
  })

  test(':= takes JSON', async () => {
    const either = tool({ x: { type: ['string', 'number', 'null'] } })
    expect(await argsOf(either, 'x:=12')).toEqual({ x: 12 })
    expect(await argsOf(either, 'x:=null')).toEqual({ x: null })
    expect(await argsOf(either, 'x:="12"')).toEqual({ x: '12' })
  })
})

describe('a switch', () => {
  test('is true by its name, false with --no-, and accepts a value', async () => {
    const draft = tool({ draft: { type: 'boolean' }, x: { type: 'string' } })
    expect(await argsOf(draft, '--draft')).toEqual({ draft: true })
    expect(await argsOf(draft, '--no-draft')).toEqual({ draft: false })
    expect(await argsOf(draft, '--draft=false')).toEqual({ draft: false })
    expect(await argsOf(draft, '--draft', 'false', 'x=1')).toEqual({ draft: false, x: '1' })
    expect(await argsOf(draft, '--draft', 'x=1')).toEqual({ draft: true, x: '1' })
  })

  test('can be part of a union', async () => {
    const either = tool({ follow: { type: ['boolean', 'string'] } })
    expect(await argsOf(either, '--follow')).toEqual({ follow: true })
    expect(await argsOf(either, '--no-follow')).toEqual({ follow: false })
    expect(await argsOf(either, '--follow', 'all')).toEqual({ follow: 'all' })
  })

  test('does not shadow a parameter named like its negation', async () => {
    const both = tool({
      cache: { type: 'boolean' },
      'no-cache-at': { type: 'string' },
      'no-x': { type: 'string' },
      x: { type: 'boolean' },
    })
    expect(await argsOf(both, '--no-x', 'text', '--x')).toEqual({ 'no-x': 'text', x: true })
  })
})

describe('a list', () => {
  test('grows with every use, from single values and from JSON', async () => {
    const list = tool({ labels: { type: 'array', items: { type: 'string' } } })
    expect(await argsOf(list, '--labels', 'a', '--labels', 'b,c')).toEqual({ labels: ['a', 'b,c'] })
    expect(await argsOf(list, '--labels', '["a","b"]', 'labels=c')).toEqual({ labels: ['a', 'b', 'c'] })
    expect(await argsOf(list, '--labels', 'a', 'labels:=["b"]', '--labels', 'c')).toEqual({ labels: ['b', 'c'] })
    expect(await argsOf(list, '--args', '{"labels":["a"]}', '--labels', 'b')).toEqual({ labels: ['b'] })
    expect(await argsOf(list, '--labels', '[wip]')).toEqual({ labels: ['[wip]'] })
    expect(await argsOf(list, '--labels=[]')).toEqual({ labels: [] })
  })

  test('has items of the schema type', async () => {
    expect(await argsOf(tool({ x: { type: 'array', items: { type: 'integer' } } }), '--x', '1', '--x', '[2,3]')).toEqual({
      x: [1, 2, 3],
    })
    expect(await argsOf(tool({ x: { type: 'array', items: { enum: [1, 'a'] } } }), '--x', '1', '--x', 'a')).toEqual({
      x: [1, 'a'],
    })
    const people = tool({ x: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } } })
    expect(await argsOf(people, '--x', '{"name":"Ada"}', '--x', '{"name":"Bob"}')).toEqual({
      x: [{ name: 'Ada' }, { name: 'Bob' }],
    })
  })

  test('of lists takes a list as one item', async () => {
    const matrix = tool({ rows: { type: 'array', items: { type: 'array', items: { type: 'integer' } } } })
    expect(await argsOf(matrix, '--rows', '[1,2]', '--rows', '[3]')).toEqual({ rows: [[1, 2], [3]] })
    expect(await argsOf(matrix, 'rows:=[[1]]', '--rows', '[2]')).toEqual({ rows: [[1], [2]] })
  })

  test('that also allows a single value starts with the second one', async () => {
    const either = tool({ to: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] } })
    expect(await argsOf(either, '--to', 'a')).toEqual({ to: 'a' })
    expect(await argsOf(either, '--to', 'a', '--to', 'b', '--to', 'c')).toEqual({ to: ['a', 'b', 'c'] })
    expect(await argsOf(either, 'to:=["a"]', '--to', 'b')).toEqual({ to: ['a', 'b'] })
  })
})

describe('an object', () => {
  test('is set by its properties, as a whole, or both', async () => {
    expect(await argsOf(issue, 'title=x', '--user.name', 'Ada', '--user.age=36')).toEqual({
      title: 'x',
      user: { name: 'Ada', age: 36 },
    })
    expect(await argsOf(issue, 'title=x', '--user', '{"name":"Ada"}', 'user.age=36')).toMatchObject({
      user: { name: 'Ada', age: 36 },
    })
    expect(await argsOf(issue, 'title=x', '--user.age=36', 'user:={"name":"Ada"}')).toMatchObject({ user: { name: 'Ada' } })
    expect(await argsOf(issue, '--args', '{"title":"x","user":{"name":"Ada","age":1}}', '--user.age=2')).toMatchObject({
      user: { name: 'Ada', age: 2 },
    })
    expect(await argsOf(issue, 'title=x', 'user.name=a', 'user.tags=b', 'user.tags=c')).toMatchObject({
      user: { tags: ['b', 'c'] },
    })
  })

  test('accepts any name if the schema does', async () => {
    const request = tool({ headers: { type: 'object', additionalProperties: { type: 'string' } }, meta: { type: 'object' } })
    expect(await argsOf(request, '--headers.X-Id', '012', 'headers.a.b=c', '--headers."".x=y')).toEqual({
      headers: { 'X-Id': '012', 'a.b': 'c', '"".x': 'y' },
    })
    expect(await argsOf(request, '--meta.size:=5', '--headers."a=b"=c')).toEqual({ meta: { size: 5 }, headers: { 'a=b': 'c' } })
  })

  test('in a union accepts the properties of each branch', async () => {
    const branch = (kind: string, name: string): JsonSchema => ({
      type: 'object',
      properties: { kind: { const: kind }, [name]: { type: 'string' } },
    })
    const open = tool({ from: { oneOf: [branch('file', 'path'), branch('url', 'href')] } })
    expect(await argsOf(open, '--from.kind', 'url', '--from.href', 'x')).toEqual({ from: { kind: 'url', href: 'x' } })
  })

  test('accepts unlisted names only if the schema does, and never as a flag', async () => {
    const free = tool({ a: { type: 'string' } }, { additionalProperties: { type: 'integer' } })
    expect(await argsOf(free, 'b=1', '--arg:c', '2', '"d=e":=3')).toEqual({ b: 1, c: 2, 'd=e': 3 })
    expect(await messagesOf(free, '--b', '1')).toEqual(['Unknown argument --b. Nearest: --a.'])
    expect(await messagesOf(tool({ a: {} }), 'b=1')).toEqual(['Unknown argument b. Nearest: --a.'])
  })
})

describe('unusual names', () => {
  const odd = tool(
    JSON.parse(
      '{"__proto__":{"type":"string"},"":{"type":"string"},"--help":{"type":"string"},"json":{"type":"boolean"},"my param":{"type":"string"},"a.b":{"type":"string"},"a=b":{"type":"string"},"constructor":{"type":"string"},"user":{"type":"object","properties":{"__proto__":{"type":"string"}}}}',
    ) as JsonSchema,
  )

  test('follow one quoting rule', async () => {
    const args = await argsOf(
      odd,
      '--__proto__=1',
      '--arg:""=2',
      '--arg:--help=3',
      '--arg:json',
      'my param=4',
      '--a.b=5',
      '"a=b"=6',
      '--constructor=7',
      '--user.__proto__=8',
    )
    expect(JSON.stringify(args)).toBe(
      '{"__proto__":"1","":"2","--help":"3","json":true,"my param":"4","a.b":"5","a=b":"6","constructor":"7","user":{"__proto__":"8"}}',
    )
    expect(Object.getPrototypeOf(args)).toBe(Object.prototype)
  })

  test('never change Object.prototype', async () => {
    const free = tool({}, { additionalProperties: true })
    const args = await argsOf(free, '--args', '{"__proto__":{"polluted":1}}', '__proto__:={"polluted":2}', '"constructor"=x')
    expect(Object.hasOwn(args, '__proto__')).toBe(true)
    expect({}).not.toHaveProperty('polluted')
    expect(args).not.toHaveProperty('polluted')
  })

  test('a plain path takes precedence over a name with a dot', async () => {
    const both = tool({ 'a.b': { type: 'string' }, a: { type: 'object', properties: { b: { type: 'string' } } } })
    expect(await argsOf(both, '--a.b=path', '"a.b"=name')).toEqual({ a: { b: 'path' }, 'a.b': 'name' })
  })
})

describe('problems', () => {
  test('are all reported at once, each with its parameter', async () => {
    const { problems, missing } = await parsed(issue, [
      '--titel',
      'x',
      '--count',
      'abc',
      'stray',
      '--state=opened',
      '--draft=maybe',
    ])
    expect(problems).toEqual([
      { kind: 'unknown', position: 0, message: 'Unknown argument --titel. Nearest: --title.', nearest: ['--title'] },
      { kind: 'value', position: 2, flag: '--count', message: '--count must be an integer, not "abc".', nearest: [] },
      {
        kind: 'syntax',
        position: 4,
        message: 'Unexpected argument stray. Use name=value or --name value, such as --title ….',
        nearest: [],
      },
      { kind: 'value', position: 5, flag: '--state', message: '--state must be one of open, closed, not "opened".', nearest: [] },
      {
        kind: 'value',
        position: 6,
        flag: '--draft',
        message: '--draft must be true or false, not "maybe".',
        nearest: [],
      },
      { kind: 'missing', flag: '--title', message: '--title is required. What it is about', nearest: [] },
    ])
    expect(missing.map(({ name }) => name)).toEqual(['title'])
  })

  test.each<[string, JsonSchema, string, string]>([
    ['a fraction', { type: 'integer' }, '--x=1.5', '--x must be an integer, not "1.5".'],
    ['a hexadecimal', { type: 'integer' }, '--x=0x10', '--x must be an integer, not "0x10".'],
    ['nothing for a number', { type: 'number' }, '--x=', '--x must be a number, not "".'],
    ['not a number', { type: 'number' }, '--x=Infinity', '--x must be a number, not "Infinity".'],
    [
      'an integer that would change',
      { type: 'integer' },
      '--x=9007199254740993',
      '--x cannot be sent: 9007199254740993 exceeds ±9007199254740991 and would lose precision.',
    ],
    [
      'a number that would change',
      { type: 'number' },
      '--x=12345678901234567890',
      '--x cannot be sent: 12345678901234567890 exceeds ±9007199254740991 and would lose precision.',
    ],
    ['a number too large', { type: 'number' }, '--x=1e999', '--x cannot be sent: 1e999 is too large for a number.'],
    [
      'a number inside JSON that would change',
      {},
      'x:={"id":9007199254740993}',
      'x must be JSON: 9007199254740993 exceeds ±9007199254740991 and would lose precision.',
    ],
    ['a wrong type in JSON', { type: 'integer' }, 'x:="1"', '--x must be an integer.'],
    ['a wrong item in JSON', { type: 'array', items: { type: 'string' } }, 'x=["a",1]', '--x [1] must be a string.'],
    ['a wrong part in JSON', { type: 'object', properties: { a: { type: 'number' } } }, 'x={"a":"1"}', '--x a must be a number.'],
    ['none of a union', { type: ['integer', 'boolean'] }, '--x=maybe', '--x must be integer or boolean, not "maybe".'],
    ['none of a union in JSON', { type: ['integer', 'boolean'] }, 'x:="a"', '--x must be integer or boolean.'],
    ['text too long', { type: 'string', maxLength: 2 }, '--x=abc', '--x must have at most 2 characters (has 3).'],
    ['text too short', { type: 'string', minLength: 2 }, '--x=\u{1f600}', '--x must have at least 2 characters (has 1).'],
    ['too small', { type: 'number', minimum: 1 }, '--x=0', '--x must be at least 1.'],
    ['too large', { type: 'number', maximum: 1 }, '--x=2', '--x must be at most 1.'],
    ['on the lower edge', { type: 'number', exclusiveMinimum: 1 }, '--x=1', '--x must be greater than 1.'],
    ['on the upper edge', { type: 'number', exclusiveMaximum: 1 }, '--x=1', '--x must be less than 1.'],
    ['between multiples', { type: 'number', multipleOf: 0.1 }, '--x=0.25', '--x must be a multiple of 0.1.'],
    ['too few values', { type: 'array', minItems: 2 }, 'x:=[1]', '--x must have at least 2 values (has 1).'],
    ['no choice', { const: 'a' }, '--x=b', '--x must be a, not "b".'],
    ['no choice in a list', { type: 'array', items: { enum: ['a', 'b'] } }, '--x=c', '--x must be one of a, b, not "c".'],
    ['no choice in a JSON list', { type: 'array', items: { enum: ['a', 'b'] } }, '--x=["c"]', '--x [0] must be one of a, b.'],
    [
      'the wrong type in JSON for what cannot be shown in parts',
      { type: 'array', prefixItems: [] },
      'x:={}',
      '--x must be array.',
    ],
  ])('%s', async (_, schema, word, message) => {
    const [found] = await messagesOf(tool({ x: schema }), word)
    expect(found?.replace(/^x /u, '--x ')).toBe(message.replace(/^x /u, '--x '))
  })

  test('list some of many choices', async () => {
    const many = tool({ x: { enum: Array.from({ length: 50 }, (_, index) => `v${index}`) } })
    expect(await messagesOf(many, '--x=w')).toEqual([
      '--x must be one of v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11 and 38 more, not "w".',
    ])
  })

  test('a flag without a value suggests = for values with dashes, and is not also reported as missing', async () => {
    expect(await messagesOf(issue, '--title')).toEqual(['--title requires a value.'])
    expect(await messagesOf(issue, '--title', '--draft')).toEqual([
      '--title requires a value. If --draft is the value, use --title=--draft.',
    ])
    expect(await argsOf(issue, '--title', '-x')).toEqual({ title: '-x' })
    expect(await messagesOf(issue, 'title=x', '--args')).toEqual(['--args requires JSON, @file or -.'])
  })

  test('unknown short flags, negations and words are reported', async () => {
    expect(await messagesOf(tool({}), '-x')).toEqual(['Unknown argument -x. The tool takes no arguments.'])
    expect(await messagesOf(tool({ a: { type: 'string' } }), '--no-a')).toEqual(['Unknown argument --no-a. Available: --a.'])
    expect(await messagesOf(tool({ zebra: {} }), '--qqqqqq', 'v')).toEqual(['Unknown argument --qqqqqq. Available: --zebra.'])
    expect(await messagesOf(tool({}), 'x')).toEqual(['Unexpected argument x. The tool takes no arguments.'])
  })

  test('properties of an object are missing only if the object is present', async () => {
    expect(await messagesOf(issue, 'title=x')).toEqual([])
    expect(await messagesOf(issue, 'title=x', '--user.age=1')).toEqual(['--user.name is required.'])
    expect(await messagesOf(issue, 'title=x', '--user.age=1', '--user.name:=1')).toEqual(['--user.name must be a string.'])
  })

  test('invalid --args are reported, and nothing else as missing', async () => {
    const [json] = await messagesOf(issue, '--args', '{oops')
    expect(json).toMatch(/^--args must be JSON: /u)
    expect(await messagesOf(issue, '--args', '[1]')).toEqual(['--args must be a JSON object, such as {"name": "value"}.'])
    expect(await messagesOf(issue, '--args', `@${join(folder, 'none.json')}`)).toEqual([
      expect.stringMatching(/^File .*none\.json cannot be read: ENOENT/u),
    ])
    expect(await messagesOf(issue, '-', '-')).toEqual([
      expect.stringMatching(/^Standard input must be JSON: /u),
      'Standard input cannot be read: already read.',
    ])
    expect(await messagesOf(issue, '--args', `${'['.repeat(600)}${']'.repeat(600)}`)).toEqual([
      '--args must be JSON: nested deeper than 500 levels.',
    ])
  })

  test('are safe for a terminal', async () => {
    const evil = tool({ '\u001b[2J': { type: 'string' }, x: { enum: ['\u001b]0;t\u0007'], description: 'd' } })
    const messages = await messagesOf(evil, '--x=\u001b[1A', '--zzzzzzzzzzz\u202e')
    expect(messages.join('')).not.toMatch(/[\p{C}]/u)
  })
})

test('20,000 parameters are supported', async () => {
  const wide = tool(Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`p${index}`, { type: 'integer' }])))
  expect(await argsOf(wide, '--p19999=1')).toEqual({ p19999: 1 })
  expect((await messagesOf(wide, '--q19999=1'))[0]).toMatch(/^Unknown argument --q19999\. Nearest: --p19999/u)
})
