import { expectTypeOf } from 'vitest'
import { z } from 'zod'
import { definePlugin } from './define.ts'

definePlugin({
  name: 'shapes',
  tools: [
    {
      name: 'circle',
      inputSchema: { type: 'object', properties: { radius: { type: 'number' } }, required: ['radius'] },
      handler({ radius }, ctx) {
        expectTypeOf(radius).toEqualTypeOf<number>()
        expectTypeOf(ctx.signal).toEqualTypeOf<AbortSignal>()
        return { area: Math.PI * radius ** 2 }
      },
    },
    {
      name: 'square',
      inputSchema: z.object({ side: z.number(), unit: z.string().default('m') }),
      handler({ side, unit }) {
        expectTypeOf(unit).toEqualTypeOf<string>()
        return `${side ** 2} ${unit}²`
      },
    },
  ],
})

definePlugin({
  tools: [
    // @ts-expect-error a tool needs a handler
    { name: 'line' },
  ],
})
