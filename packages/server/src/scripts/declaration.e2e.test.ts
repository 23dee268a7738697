import { afterAll, expect, test } from 'vitest'
import { createScriptReader } from './declaration.ts'
import { quickJsEngine } from './quickjs/engine.ts'

const reader = createScriptReader(quickJsEngine({ workers: 1 }))
afterAll(() => reader[Symbol.asyncDispose]())

const valid = "export const description = 'Says hello.'\nexport default () => 'hello'\n"

test('a declaration is what the file exports, with types removed and without running the function', async () => {
  const source = `import type { Tool } from './tools.d.ts'
type Name = string
export const description: string = 'Says hello.'
export const input = { type: 'object', properties: { name: { type: 'string' } } } as const
export default async function ({ name }: { name: Name }) { return tools.anything({ name }) as Tool }`
  expect(await reader.read(source)).toEqual({
    declaration: { description: 'Says hello.', input: { type: 'object', properties: { name: { type: 'string' } } } },
  })
})

test.each([
  ['no description', 'export default () => 1', { message: expect.stringContaining('needs a description') }],
  [
    'no function',
    "export const description = 'x'\nexport default 1",
    { message: expect.stringContaining('needs a function'), line: 2 },
  ],
  [
    'a misspelt export',
    `${valid}export const inputs = {}`,
    { message: expect.stringContaining('Nearest: input.'), line: 3, column: 1 },
  ],
  [
    'a schema of another type',
    `${valid}export const input = []`,
    { message: expect.stringContaining("type: 'object'"), line: 3 },
  ],
  [
    'an import',
    `${valid}import { rm } from 'node:fs'`,
    { message: expect.stringContaining('cannot import'), line: 3, column: 1 },
  ],
  ['a re-export', `${valid}export * from './other.ts'`, { message: expect.stringContaining('cannot import'), line: 3 }],
  ['a syntax error', `${valid}const = 1`, { name: 'SyntaxError', line: 3 }],
  [
    'a type that needs a compiler',
    `${valid}enum State { Late }`,
    { message: expect.stringContaining('enum'), line: 3, column: 1 },
  ],
  ['an error at the top level', `${valid}null.x`, { name: 'TypeError', line: 3 }],
  [
    'a call at the top level',
    `${valid}await tools.files.remove({ path: '/' })`,
    { message: expect.stringContaining('only in the function'), line: 3 },
  ],
  ['an endless loop', `${valid}for (;;);`, { message: expect.stringContaining('CPU time') }],
  [
    'a memory bomb',
    `${valid}const all = []\nfor (;;) all.push(new Array(1e5).fill(0))`,
    { message: expect.stringContaining('memory') },
  ],
])('a file with %s is not a script, and the error has a position', async (_, source, error) => {
  expect(await reader.read(source)).toEqual({ error: expect.objectContaining(error) as unknown })
})

test('the files share nothing with each other', async () => {
  await reader.read(`${valid}globalThis.leak = 1\nObject.prototype.title = 'leak'`)
  const source = 'export const description = String(globalThis.leak)\nexport default () => 1'
  expect(await reader.read(source)).toEqual({ declaration: { description: 'undefined' } })
})
