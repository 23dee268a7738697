//#region toolbox
import { defineToolbox } from '@unfold-mcp/server'

export const shop = defineToolbox({
  name: 'shop',
  version: '1.0.0',
  groups: {
    orders: { description: 'Orders' },
    stock: { description: 'Stock' },
  },
})

shop.tool('list_orders', { group: 'orders', description: 'List orders', tags: ['daily'], readOnly: true }, () => ({ orders: [] }))
shop.tool('cancel_order', { group: 'orders', description: 'Cancel an order', destructive: true }, () => 'Cancelled.')
shop.tool('count_stock', { group: 'stock', description: 'Count the stock', tags: ['daily'], readOnly: true }, () => ({
  pieces: 3,
}))
//#endregion
