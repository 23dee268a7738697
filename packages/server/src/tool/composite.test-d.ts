import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { expectTypeOf } from 'vitest'
import { z } from 'zod'
import { defineToolbox, LiveFacts } from '../index.ts'

const info = { name: 'browser', version: '1.0.0' }
const facts = new LiveFacts({ logs: 0, network: 0 })
const browser = defineToolbox({ ...info, facts, groups: { deep: { description: 'Deeper looks' } } })

const two = { logs: { description: 'Logs' }, network: { description: 'Requests' } } as const

// What a handler gets is its mode as a literal, what all modes share, and what its own mode adds.
browser.composite(
  'observe',
  {
    by: 'what',
    inputSchema: z.object({ limit: z.number().default(10) }),
    modes: {
      page: { description: 'The page' },
      logs: { description: 'Logs', inputSchema: z.object({ level: z.enum(['info', 'error']).optional() }) },
      network: { description: 'Requests', inputSchema: type({ 'method?': 'string' }) },
      actions: { description: 'Actions', inputSchema: toStandardJsonSchema(v.object({ kind: v.string() })) },
      vitals: {
        description: 'Vitals',
        inputSchema: {
          type: 'object',
          properties: { metric: { enum: ['LCP', 'CLS'] }, last: { type: 'integer' } },
          required: ['metric'],
        },
      },
    },
  },
  {
    page: (input) => {
      expectTypeOf(input).toEqualTypeOf<{ what: 'page'; limit: number }>()
      return input.what
    },
    logs: (input) => {
      expectTypeOf(input).toEqualTypeOf<{ what: 'logs'; limit: number; level?: 'info' | 'error' | undefined }>()
      return input.what
    },
    network: (input) => {
      expectTypeOf(input.what).toEqualTypeOf<'network'>()
      expectTypeOf(input.limit).toEqualTypeOf<number>()
      expectTypeOf(input.method).toEqualTypeOf<string | undefined>()
      return input.what
    },
    actions: (input) => {
      expectTypeOf(input).toEqualTypeOf<{ what: 'actions'; limit: number; kind: string }>()
      return input.kind
    },
    vitals: async (input, ctx) => {
      expectTypeOf(input.what).toEqualTypeOf<'vitals'>()
      expectTypeOf(input.metric).toEqualTypeOf<'LCP' | 'CLS'>()
      expectTypeOf(input.last).toEqualTypeOf<number | undefined>()
      expectTypeOf(ctx.facts.logs).toEqualTypeOf<number>()
      // @ts-expect-error 'depe' is not a group of this toolbox
      await ctx.activate('depe')
    },
  },
)

// Without a shared input a handler gets its mode, and what that mode adds.
browser.composite(
  'configure',
  { by: 'action', modes: { clear: { description: 'Clear' } } },
  {
    clear: (input) => {
      expectTypeOf(input).toEqualTypeOf<{ action: 'clear' }>()
      // @ts-expect-error the parameter that chooses is called "action"
      return input.what
    },
  },
)

// Predicates and counts know the facts.
browser.composite(
  'analyze',
  {
    by: 'target',
    policy: 'static',
    modes: {
      api: {
        description: 'The API',
        available: (snapshot) => {
          expectTypeOf(snapshot.facts).toEqualTypeOf<{ logs: number; network: number }>()
          return snapshot.facts.network > 0
        },
        count: (snapshot) => snapshot.facts.network,
        whenEmpty: 'Load a page.',
      },
    },
  },
  { api: () => 'shape' },
)

// @ts-expect-error no handler for "network"
browser.composite('a', { by: 'what', modes: two }, { logs: () => '' })

// @ts-expect-error "netwrok" is not a mode
browser.composite('b', { by: 'what', modes: two }, { logs: () => '', network: () => '', netwrok: () => '' })

// @ts-expect-error the parameter that chooses has to be named
browser.composite('c', { modes: two }, { logs: () => '', network: () => '' })

// @ts-expect-error "statik" is not a policy
browser.composite('d', { by: 'what', policy: 'statik', modes: two }, { logs: () => '', network: () => '' })

// @ts-expect-error 'depe' is not a group of this toolbox
browser.composite('e', { by: 'what', group: 'depe', modes: two }, { logs: () => '', network: () => '' })

// @ts-expect-error a mode says what it is for
browser.composite('f', { by: 'what', modes: { logs: {} } }, { logs: () => '' })

// @ts-expect-error "log" is not a fact
browser.composite('g', { by: 'what', modes: { logs: { description: '', count: (now) => now.facts.log } } }, { logs: () => '' })

// @ts-expect-error a count is a number
browser.composite('h', { by: 'what', modes: { logs: { description: '', count: () => 'many' } } }, { logs: () => '' })

const counted = { description: '', count: () => 0 }
browser.composite('j', { by: 'what', modes: { logs: { ...counted, available: true } } }, { logs: () => '' })

// @ts-expect-error a mode that is never available is invalid
browser.composite('k', { by: 'what', modes: { logs: { ...counted, available: false } } }, { logs: () => '' })

// @ts-expect-error what a composite tool answers depends on the mode, so it declares no output
browser.composite('i', { by: 'what', outputSchema: z.object({}), modes: two }, { logs: () => '', network: () => '' })
// @ts-expect-error what a composite tool answers depends on the mode, so it declares no output
browser.composite('i', { by: 'what', output: z.object({}), modes: two }, { logs: () => '', network: () => '' })

// @ts-expect-error a handler gives back what can be sent
browser.composite('j', { by: 'what', modes: { logs: { description: '' } } }, { logs: () => 42n })

// Facts may also be a function, and then have the types of what it returns.
defineToolbox({ ...info, facts: () => ({ open: true }) }).composite(
  'look',
  { by: 'at', modes: { door: { description: 'The door', available: (snapshot) => snapshot.facts.open } } },
  {
    door: (_input, ctx) => {
      expectTypeOf(ctx.facts).toEqualTypeOf<{ open: boolean }>()
      return ''
    },
  },
)

// `after` is the name of a tool, or false for none.
browser.tool('query', { after: false }, () => '')
browser.tool('generate', { after: 'observe' }, () => '')
// @ts-expect-error a tool that waits says for which
browser.tool('generate_all', { after: true }, () => '')
