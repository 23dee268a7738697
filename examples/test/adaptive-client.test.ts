import { PassThrough } from 'node:stream'
import { connect } from '@unfold-mcp/client'
import { formOf, type JsonSchema } from '@unfold-mcp/core'
import { defineToolbox, listen, ToolRegistry } from '@unfold-mcp/server'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { converse } from '../src/adaptive-client/program.ts'
import { askFor } from '../src/adaptive-client/question.ts'
import { terminalOver } from '../src/adaptive-client/terminal.ts'

/** A terminal with scripted input and recorded output. */
function typed() {
  const input = new PassThrough()
  const output = new PassThrough()
  let printed = ''
  output.setEncoding('utf8').on('data', (text: string) => {
    printed += text
  })
  return {
    terminal: terminalOver(input, output),
    type: (...lines: readonly string[]) => void input.write(lines.map((line) => `${line}\n`).join('')),
    end: () => void input.end(),
    get printed() {
      return printed
    },
    async until(text: string) {
      await expect.poll(() => printed, { timeout: 120_000 }).toContain(text)
    },
  }
}

const server = () => {
  const registry = new ToolRegistry()
  const toolbox = defineToolbox({ name: 'kitchen', version: '2.0.0', instructions: 'Cooks.' })
    .use(registry)
    .tool(
      'brew',
      {
        description: 'Brew tea\nfor many.',
        inputSchema: z.object({ cups: z.int().min(1), kind: z.enum(['green', 'black']).default('green') }),
      },
      ({ cups, kind }) => `${cups} × ${kind}`,
    )
    .tool('burn', { description: 'Burn toast' }, () => {
      throw new Error('smoke \u001b[2J everywhere')
    })
  return { toolbox, registry }
}

describe('a client that knows no tool', () => {
  test('generates its menu and questions from the tools of the server', async () => {
    await using listening = await listen(server().toolbox, { port: 0, host: '127.0.0.1' })
    await using connection = await connect({ url: listening.url })
    const user = typed()
    user.type('brew', 'many', '2.5', '3', 'black', '2', 'tea', 'nonsense', 'quit')
    await converse(connection, user.terminal)
    expect(user.printed).toBe(
      [
        'kitchen 2.0.0',
        'Cooks.',
        '  1 brew  Brew tea',
        '  2 burn  Burn toast',
        'A name or number uses a tool, a word finds some, quit ends.',
        '> Brew tea',
        'for many.',
        '  cups (whole number):   That is no number.',
        '  cups (whole number):   That is no whole number.',
        '  cups (whole number):   kind (green | black; "green" if nothing): 3 × black',
        '> Burn toast',
        'It failed: smoke \\u{1b}[2J everywhere',
        '>   brew  Brew tea',
        'A name or number uses a tool, a word finds some, quit ends.',
        '> No tool goes by "nonsense".',
        '> ',
      ].join('\n'),
    )
  })

  test('updates its menu when the server changes', async () => {
    const { toolbox, registry } = server()
    await using listening = await listen(toolbox, { port: 0, host: '127.0.0.1' })
    await using connection = await connect({ url: listening.url })
    const user = typed()
    const talk = converse(connection, user.terminal)
    await user.until('> ')
    registry.register('bake', { description: 'Bake bread' }, () => 'bread')
    await user.until('The tools changed: + bake\n> ')
    user.type('bake')
    await user.until('bread')
    registry.unregister('bake')
    await user.until('The tools changed: - bake')
    user.end()
    await talk
  })

  test('exits when its input ends, even during a question', async () => {
    await using listening = await listen(server().toolbox, { port: 0, host: '127.0.0.1' })
    await using connection = await connect({ url: listening.url })
    const user = typed()
    user.type('brew')
    user.end()
    await converse(connection, user.terminal)
    expect(user.printed).toContain('cups (whole number)')
  })
})

describe('questions from a schema', () => {
  const asked = async (schema: JsonSchema, ...lines: readonly string[]) => {
    const user = typed()
    user.type(...lines)
    user.end()
    return askFor(formOf(schema).fields, user.terminal)
  }
  const object = (properties: JsonSchema, required: readonly string[] = []): JsonSchema => ({
    type: 'object',
    properties,
    required,
  })

  test.each([
    ['a text as it is', object({ a: { type: 'string' } }, ['a']), [' 012 '], { a: ' 012 ' }],
    ['a number', object({ a: { type: 'number' } }), ['1.5'], { a: 1.5 }],
    ['yes and no', object({ a: { type: 'boolean' }, b: { type: 'boolean' } }), ['perhaps', 'y', 'no'], { a: true, b: false }],
    ['nothing', object({ a: { type: 'number' }, b: { type: 'string', default: 'x' } }), ['', ''], {}],
    ['a list, item by item', object({ a: { type: 'array', items: { type: 'integer' } } }), ['1', '2', ''], { a: [1, 2] }],
    [
      'several of several',
      object({ a: { type: 'array', items: { enum: ['x', 'y', 'z'] }, uniqueItems: true } }),
      ['x, z'],
      { a: ['x', 'z'] },
    ],
    ['an object, field by field', object({ a: object({ b: { type: 'string' } }, ['b']) }, ['a']), ['deep'], { a: { b: 'deep' } }],
    ['an object that may be left out', object({ a: object({ b: { type: 'string' } }) }), ['n'], {}],
    ['one of two kinds', object({ a: { anyOf: [{ type: 'string' }, { type: 'number' }] } }), ['7', '2', '5'], { a: 5 }],
    ['JSON where nothing else will do', object({ a: {} }), ['{', '{"b":1}'], { a: { b: 1 } }],
    [
      'names that objects have anyway',
      object(JSON.parse('{"__proto__":{"type":"string"}}') as JsonSchema),
      ['x'],
      JSON.parse('{"__proto__":"x"}'),
    ],
  ])('%s', async (_, schema, lines, value) => {
    expect(await asked(schema, ...lines)).toEqual(value)
  })

  test('returns undefined if the user leaves', async () => {
    expect(await asked(object({ a: { type: 'string' } }, ['a']))).toBeUndefined()
  })
})
