import { Script } from 'node:vm'
import { afterAll, describe, expect, test } from 'vitest'
import { createTypeStripper, type Stripped } from './strip-types.ts'

const stripper = createTypeStripper()
afterAll(() => stripper[Symbol.asyncDispose]())

const withoutLibrary = createTypeStripper(() => undefined)

const sourceOf = (stripped: Stripped): string => {
  if ('error' in stripped) throw new Error(JSON.stringify(stripped.error))
  return stripped.source
}

const typed = `type Issue = { 'né😀': string; number: number }
interface Page<T> { items: T[] }
const seen = new Set<string>(input.names)
const load = async <T,>(page: number): Promise<Page<T>> => tools.github.list({ page }) as Promise<Page<T>>
const first = (await load<Issue>(1)).items[0]!
class Counter { private count: number = 0; next(this: Counter): number { return ++this.count } }
return { first, n: new Counter().next() satisfies number, seen: [...seen] }`

describe('removing types', () => {
  test('AT-K22-1 (Y22): leaves every line and column where it is', async () => {
    const source = sourceOf(await stripper.strip(typed))
    expect(source).toHaveLength(typed.length)
    expect(source).not.toMatch(/Issue|Promise|satisfies|private/)
    for (const kept of ['const seen', 'tools.github.list', 'class Counter', 'return { first', '[...seen]'])
      expect(source.indexOf(kept)).toBe(typed.indexOf(kept))
    expect(source.split('\n').map(({ length }) => length)).toEqual(typed.split('\n').map(({ length }) => length))
    expect(() => new Script(`async () => {${source}\n}`)).not.toThrow()
  })

  test.each([
    'const a = 1 < 2, b = [1].map((x) => (x > 0 ? x : 0))\nreturn await tools.act({ a })',
    'return "as const" /* : string */ // <T>',
    '',
    'label: for (const x of []) break label',
  ])('AT-K22-2: leaves plain JavaScript as it is, without the library: %j', async (source) => {
    expect(sourceOf(await withoutLibrary.strip(source))).toBe(source)
  })

  test('AT-K22-3: reads what may be type arguments as TypeScript', async () => {
    expect(sourceOf(await stripper.strip('return new Set<string>(list)'))).toBe('return new Set        (list)')
    expect(sourceOf(await stripper.strip('return a < b && c > (d)'))).toBe('return a < b && c > (d)')
    expect(sourceOf(await withoutLibrary.strip('return a < b && c > (d)'))).toBe('return a < b && c > (d)')
  })

  test.each<[string, string, number, number]>([
    ['an enum', 'const a = 1\n  enum B { C }', 2, 3],
    ['a namespace', 'namespace A { const b = 1 }', 1, 1],
    ['a parameter property', 'class A { constructor(private b: number) {} }', 1, 31],
    ['a decorator', 'const b = 1\nclass A {\n  @dec c() {}\n}', 3, 3],
    ['a decorator on the first line', '@dec class A {}', 1, 1],
    ['a type assertion in angle brackets', 'const a: string = <string>b', 1, 19],
    ['a syntax error', 'const a: = 1', 1, 10],
    ['a syntax error on a later line', 'const a: number = 1\nreturn a +', 2, 11],
    ['an import', 'const a: number = 1\nimport { b } from "c"', 2, 1],
  ])('AT-K22-4: names line and column of %s', async (_, source, line, column) => {
    expect(await stripper.strip(source)).toMatchObject({ error: { name: 'SyntaxError', line, column } })
  })

  test('explains what to do about unsupported syntax', async () => {
    expect(await stripper.strip('enum A {}')).toMatchInlineSnapshot(`
      {
        "error": {
          "column": 1,
          "line": 1,
          "message": "TypeScript enum is not supported: types are removed, not compiled. Write it in JavaScript.",
          "name": "SyntaxError",
        },
      }
    `)
    expect(await stripper.strip('@dec class A {}')).toMatchInlineSnapshot(`
      {
        "error": {
          "column": 1,
          "line": 1,
          "message": "Decorators are not supported. Call the function instead.",
          "name": "SyntaxError",
        },
      }
    `)
    expect(await withoutLibrary.strip('const a: string = 1')).toMatchInlineSnapshot(`
      {
        "error": {
          "message": "The script is not JavaScript, and types cannot be removed because @swc/wasm-typescript is not installed. Install it, or write JavaScript.",
          "name": "SyntaxError",
        },
      }
    `)
  })

  test('reports a script that ends its function', async () => {
    expect(await stripper.strip('} enum A {} {')).toHaveProperty('error.line', 1)
  })

  test('survives scripts that overflow the stack of the library, and those next to them', async () => {
    const deep = `const a: number = ${'('.repeat(20_000)}1${')'.repeat(20_000)}`
    const [before, overflow, after] = await Promise.all([stripper.strip(typed), stripper.strip(deep), stripper.strip(typed)])
    expect(overflow).toHaveProperty('error.message', 'The script is nested too deeply, or takes too long to parse.')
    expect(after).toEqual(before)
    expect(await stripper.strip('x'.repeat(600_000))).toHaveProperty('error')
  })
})
