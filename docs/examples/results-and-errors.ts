//#region results
import { defineToolbox, ToolError } from '@unfold-mcp/server'
import { z } from 'zod'

export const kitchen = defineToolbox({ name: 'kitchen', version: '1.0.0' })

kitchen.tool('greet', { description: 'A text' }, () => 'Hello!')
kitchen.tool('count', { description: 'A number' }, () => 12)
kitchen.tool('menu', { description: 'A plain object: structured content' }, () => ({ soup: 'tomato', price: 4 }))
kitchen.tool('photo', { description: 'Content blocks' }, () => [
  { type: 'text', text: 'Today’s soup' },
  { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' },
])
kitchen.tool('sold_out', { description: 'A whole result' }, () => ({
  isError: true,
  content: [{ type: 'text', text: 'The soup is sold out. Ask for the salad.' }],
}))
kitchen.tool('ring', { description: 'Nothing' }, () => undefined)
//#endregion

//#region output
kitchen.tool(
  'price',
  {
    description: 'The price of a dish',
    inputSchema: z.object({ dish: z.string().min(1), portions: z.int().min(1).max(20).default(1) }),
    outputSchema: z.object({ price: z.number() }),
  },
  ({ dish, portions }) => {
    const price = prices.get(dish)
    if (price === undefined) throw new ToolError(`There is no "${dish}" today. There is: ${[...prices.keys()].join(', ')}.`)
    return { price: price * portions }
  },
)
//#endregion

//#region timeout
kitchen.tool('bake', { description: 'Bake a cake', timeoutMs: 60_000 }, async (_input, ctx) => {
  for (let minute = 1; minute <= 3; minute++) {
    await oven(ctx.signal)
    await ctx.progress(minute, 3, `Minute ${minute}`)
  }
  return 'Baked.'
})
//#endregion

const prices = new Map([
  ['soup', 4],
  ['salad', 6],
])

async function oven(signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
}
