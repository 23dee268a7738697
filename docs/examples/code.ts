//#region toolbox
import { defineToolbox } from '@unfold-mcp/server'
import { z } from 'zod'

export const shop = defineToolbox({ name: 'shop', version: '1.0.0', exposure: 'code' })

const order = z.object({ id: z.int(), state: z.enum(['paid', 'late']), cents: z.int() })

shop.tool(
  'list_orders',
  {
    description: 'List all orders.',
    input: z.object({ limit: z.int().max(500).default(500) }),
    output: z.object({ orders: z.array(order) }),
    readOnly: true,
  },
  ({ limit }) => ({ orders: orders.slice(0, limit) }),
)
shop.tool(
  'create_ticket',
  { description: 'Open a ticket.', input: z.object({ title: z.string().min(1) }), output: z.object({ number: z.int() }) },
  () => ({ number: ++tickets }),
)
//#endregion

let tickets = 0
const orders = Array.from({ length: 500 }, (_, index) => ({
  id: index + 1,
  state: index % 125 === 7 ? ('late' as const) : ('paid' as const),
  cents: 100 * ((index * 7) % 90),
}))

//#region limits
export const careful = defineToolbox({
  name: 'careful',
  version: '1.0.0',
  exposure: 'code',
  code: { confirm: 'writes', limits: { calls: 50, parallelCalls: 4, wallMs: 60_000 } },
})
//#endregion

//#region stored
export const reports = defineToolbox({ name: 'reports', version: '1.0.0' })

reports.tool(
  'list_orders',
  { description: 'List all orders.', output: z.object({ orders: z.array(order) }), readOnly: true },
  () => ({
    orders,
  }),
)

reports.script('count_late', {
  description: 'Counts late orders.',
  readOnly: true,
  output: z.object({ late: z.int() }),
  code: `export default async () => {
    const { orders } = await tools.list_orders()
    return { late: orders.filter(({ state }) => state === 'late').length }
  }`,
})
//#endregion
