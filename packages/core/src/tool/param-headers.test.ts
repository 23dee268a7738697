import { describe, expect, test } from 'vitest'
import { decodeHeader, headerMismatch, headerParameters, headerProblem } from './param-headers.ts'

const region = { type: 'string', 'x-mcp-header': 'Region' }
const object = (properties: object, rest: object = {}): { readonly [keyword: string]: unknown } => ({
  type: 'object',
  properties,
  ...rest,
})

describe('declarations', () => {
  test('are found on properties at any depth, outermost first', () => {
    const schema = object({ target: object({ zone: { type: 'integer', 'x-mcp-header': 'Zone' } }), region })
    expect(headerParameters('deploy', schema)).toEqual([
      { path: ['region'], header: 'Region', type: 'string' },
      { path: ['target', 'zone'], header: 'Zone', type: 'integer' },
    ])
  })

  test('are scanned once for each schema', () => {
    const schema = object({ region })
    expect(headerParameters('deploy', schema)).toBe(headerParameters('deploy', schema))
  })

  test.each([
    ['items', object({ list: { type: 'array', items: region } })],
    ['prefixItems', object({ list: { type: 'array', prefixItems: [region] } })],
    ['anyOf', object({ either: { anyOf: [region] } })],
    ['additionalProperties', object({}, { additionalProperties: region })],
    ['patternProperties', object({}, { patternProperties: { '^r': region } })],
    ['$defs, though a $ref leads there', object({ region: { $ref: '#/$defs/region' } }, { $defs: { region } })],
    ['definitions of an older draft', object({}, { definitions: { region } })],
    ['properties behind items', object({ list: { items: object({ region }) } })],
    ['properties in a list', { type: 'object', properties: [region] }],
    ['the root', object({}, { 'x-mcp-header': 'Region' })],
  ])('are invalid under %s', (_, schema) => {
    expect(headerProblem(schema)).toMatch(/^x-mcp-header at .* is not on a property of an object$/u)
  })

  test.each([
    ['an empty name', ''],
    ['a name with a space', 'My Region'],
    ['a name with a line break', 'a\r\nb'],
    ['a name that is not a string', 7],
    ['a name with a letter outside ASCII', 'Région'],
  ])('are invalid with %s', (_, header) => {
    expect(headerProblem(object({ region: { type: 'string', 'x-mcp-header': header } }))).toBe(
      'x-mcp-header of "region" is not a valid header name',
    )
  })

  test.each(['number', 'object', 'array', 'null', undefined, ['string', 'null']])('are invalid on the type %j', (type) => {
    expect(headerProblem(object({ region: { type, 'x-mcp-header': 'Region' } }))).toBe(
      'x-mcp-header of "region" needs a type of string, integer or boolean',
    )
  })

  test('are invalid if two names differ only in case', () => {
    expect(headerProblem(object({ region, other: { type: 'string', 'x-mcp-header': 'REGION' } }))).toBe(
      'two parameters have the header region',
    )
  })

  test.each([
    ['a property', object({ 'x-mcp-header': { type: 'string' } })],
    ['a property behind items', object({ list: { items: object({ 'x-mcp-header': { type: 'string' } }) } })],
    ['a definition', object({}, { $defs: { 'x-mcp-header': { type: 'string' } } })],
    ['a key of a default, an example or a constant', object({ a: { default: region, examples: [region], const: region } })],
  ])('are not mistaken for %s of that name', (_, schema) => {
    expect(headerProblem(schema)).toBeUndefined()
    expect(headerParameters('deploy', schema)).toEqual([])
  })

  test('an invalid one is rejected with the name of the tool', () => {
    expect(() => headerParameters('deploy', object({}, { not: region }))).toThrow(/^Tool "deploy": x-mcp-header at the root/u)
  })

  test('a schema nested 100,000 levels deep is scanned without exhausting the stack', () => {
    let schema: { readonly [keyword: string]: unknown } = { items: region }
    for (let depth = 0; depth < 100_000; depth++) schema = object({ a: schema })
    expect(headerProblem(schema)).toContain('is not on a property of an object')
  })
})

describe('headers and arguments', () => {
  const parameters = headerParameters(
    'deploy',
    object({
      region,
      count: { type: 'integer', 'x-mcp-header': 'Count' },
      force: { type: 'boolean', 'x-mcp-header': 'Force' },
      target: object({ zone: { type: 'string', 'x-mcp-header': 'Zone' } }),
    }),
  )
  const mismatch = (args: unknown, headers: { readonly [name: string]: string } = {}) =>
    headerMismatch(parameters, args, (name) => headers[name.toLowerCase()])

  test.each([
    ['the same text', { region: 'eu' }, { 'mcp-param-region': 'eu' }],
    ['Base64', { region: 'é' }, { 'mcp-param-region': '=?base64?w6k=?=' }],
    ['another spelling of an integer', { count: 42 }, { 'mcp-param-count': '42.0' }],
    ['a boolean', { force: false }, { 'mcp-param-force': 'false' }],
    ['a nested argument', { target: { zone: 'a' } }, { 'mcp-param-zone': 'a' }],
    ['no argument, whatever the header', {}, { 'mcp-param-region': 'eu' }],
    ['null', { region: null }, {}],
    ['no arguments at all', undefined, {}],
    ['a value that the schema will reject', { region: { a: 1 } }, {}],
    ['an integer that clients cannot send exactly', { count: 2 ** 53 }, {}],
    ['an inherited property, which is not an argument', Object.create({ region: 'eu' }), {}],
  ])('agree for %s', (_, args, headers) => {
    expect(mismatch(args, headers)).toBeUndefined()
  })

  test.each([
    ['the header is missing', { region: 'eu' }, {}, /arguments\.region but the header Mcp-Param-Region is missing/u],
    ['an empty argument has no header', { region: '' }, {}, /is missing/u],
    ['the text differs', { region: 'eu' }, { 'mcp-param-region': 'us' }, /Mcp-Param-Region and arguments\.region differ/u],
    ['the case differs', { region: 'eu' }, { 'mcp-param-region': 'EU' }, /differ/u],
    ['a number differs', { count: 1 }, { 'mcp-param-count': '2' }, /differ/u],
    ['a number is written as hexadecimal', { count: 16 }, { 'mcp-param-count': '0x10' }, /differ/u],
    ['a large number differs', { count: 2 ** 53 }, { 'mcp-param-count': '1' }, /differ/u],
    ['the Base64 is invalid', { region: 'eu' }, { 'mcp-param-region': '=?base64?!!!?=' }, /not valid Base64/u],
  ])('disagree when %s', (_, args, headers: { readonly [name: string]: string }, problem) => {
    expect(mismatch(args, headers)?.problem).toMatch(problem)
  })
})

describe('a header value', () => {
  test.each([
    ['plain', 'eu', 'eu'],
    ['plain with only the beginning of the Base64 form', '=?base64?ZXU=', '=?base64?ZXU='],
    ['empty Base64', '=?base64??=', ''],
    ['two padding characters', '=?base64?ZQ==?=', 'e'],
    ['one padding character', '=?base64?ZXU=?=', 'eu'],
    ['no padding', '=?base64?ZXUx?=', 'eu1'],
    ['four-byte UTF-8', '=?base64?8J+YgA==?=', '😀'],
    ['a leading byte order mark', '=?base64?77u/ZXU=?=', '\uFEFFeu'],
    ['text with a percent sign', '=?base64?JTQx?=', '%41'],
  ])('is decoded: %s', (_, value, text) => {
    expect(decodeHeader(value)).toBe(text)
  })

  test.each([
    ['a prefix and a suffix that overlap', '=?base64?='],
    ['missing padding', '=?base64?ZXU?='],
    ['the URL alphabet', '=?base64?8J-YgA==?='],
    ['white space', '=?base64?ZX U=?='],
    ['invalid UTF-8', '=?base64?/w==?='],
    ['an overlong sequence', '=?base64?wIA=?='],
    ['a lone surrogate', '=?base64?7aCA?='],
  ])('is rejected: %s', (_, value) => {
    expect(decodeHeader(value)).toBeUndefined()
  })
})
