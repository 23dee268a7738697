import { expectTypeOf } from 'vitest'
import { z } from 'zod'
import { tool } from '../decorators.ts'
import { defineToolbox, ToolRegistry } from '../index.ts'

const box = defineToolbox({ name: 'desk', version: '1.0.0', description: 'A desk', groups: { notes: { description: 'Notes' } } })
const registry = new ToolRegistry()
const measured = z.object({ text: z.string(), times: z.number().default(1) })
const json = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const

// A handler gets what its schema gives, under either key.
box.tool('zod', { description: 'Measure', inputSchema: measured }, (input, ctx) => {
  expectTypeOf(input).toEqualTypeOf<{ text: string; times: number }>()
  // @ts-expect-error 'nodes' is not a group of this toolbox
  void ctx.activate('nodes')
})
box.tool('both', { inputSchema: measured, input: measured }, (input) => {
  expectTypeOf(input).toEqualTypeOf<{ text: string; times: number }>()
})
box.tool('json', { inputSchema: json }, (input) => expectTypeOf(input).toEqualTypeOf<{ text: string }>())
box.tool(
  'literal',
  { inputSchema: { type: 'object', properties: { kind: { enum: ['a', 'b'] } }, required: ['kind'] } },
  (input) => {
    expectTypeOf(input).toEqualTypeOf<{ kind: 'a' | 'b' }>()
  },
)
box.tool('none', { description: 'Ping' }, (input) => expectTypeOf(input).toEqualTypeOf<Record<string, unknown>>())

// What it returns is checked against its output schema, under either key.
box.tool('count', { outputSchema: z.object({ count: z.number() }) }, () => ({ count: 1 }))
// @ts-expect-error count is a number
box.tool('count', { outputSchema: z.object({ count: z.number() }) }, () => ({ count: 'one' }))
// @ts-expect-error count is a number
box.tool('count', { output: z.object({ count: z.number() }) }, () => ({ count: 'one' }))

// The modes of a composite tool take the same keys.
box.composite(
  'observe',
  {
    by: 'what',
    description: 'Observe',
    inputSchema: z.object({ limit: z.number() }),
    modes: {
      logs: { description: 'Log lines', inputSchema: z.object({ level: z.string() }) },
      page: { description: 'The page' },
      network: { about: 'Requests', input: json },
    },
  },
  {
    logs: (input) => expectTypeOf(input).toEqualTypeOf<{ what: 'logs'; limit: number; level: string }>(),
    page: (input) => expectTypeOf(input).toEqualTypeOf<{ what: 'page'; limit: number }>(),
    network: (input) => expectTypeOf(input).toEqualTypeOf<{ what: 'network'; limit: number; text: string }>(),
  },
)
// @ts-expect-error a mode has a description
box.composite('observe', { by: 'what', modes: { page: {} } }, { page: () => '' })

// A registry takes the keys of a toolbox.
registry.register('old', { input: measured, about: 'Measure', readOnly: true }, (input) => {
  expectTypeOf(input).toEqualTypeOf<{ text: string; times: number }>()
})
registry.register('new', { inputSchema: json, description: 'Measure', always: true }, (input) => {
  expectTypeOf(input).toEqualTypeOf<{ text: string }>()
})
// @ts-expect-error a misspelt key
registry.register('misspelt', { desciption: 'Measure' }, () => '')

export class Desk {
  @tool({ description: 'Measure', inputSchema: measured }) measure({ text, times }: { text: string; times: number }): string {
    return text.repeat(times)
  }
  // @ts-expect-error the method takes something else than its schema gives
  @tool({ inputSchema: measured }) wrong({ size }: { size: number }): string {
    return String(size)
  }
}

// @ts-expect-error a misspelt key
box.tool('misspelt', { desciption: 'Measure' }, () => '')
// @ts-expect-error a misspelt key
defineToolbox({ name: 'desk', version: '1.0.0', gate: { desciption: 'The desk' } })
