export const description = 'Lists late orders, the most expensive ones first.'

export const annotations = { readOnlyHint: true }

export const input = {
  type: 'object',
  properties: { limit: { type: 'integer', minimum: 1, maximum: 50, default: 10 } },
}

export const output = {
  type: 'object',
  properties: {
    orders: {
      type: 'array',
      items: { type: 'object', properties: { id: { type: 'integer' }, euros: { type: 'number' } }, required: ['id', 'euros'] },
    },
  },
  required: ['orders'],
}

export default async function ({ limit = 10 }: { limit?: number }) {
  const { orders } = await tools.shop.list_orders()
  const late = orders.filter(({ state }) => state === 'late').sort((a, b) => b.cents - a.cents)
  return { orders: late.slice(0, limit).map(({ id, cents }) => ({ id, euros: cents / 100 })) }
}
