//#region toolbox
import { defineToolbox } from '@unfold-mcp/server'

export const shop = defineToolbox({
  name: 'shop',
  version: '1.0.0',
  groups: {
    orders: { about: 'Orders' },
    stock: { about: 'Stock' },
  },
})

shop.tool('list_orders', { group: 'orders', about: 'List orders', tags: ['daily'], readOnly: true }, () => ({ orders: [] }))
shop.tool('cancel_order', { group: 'orders', about: 'Cancel an order', destructive: true }, () => 'Cancelled.')
shop.tool('count_stock', { group: 'stock', about: 'Count the stock', tags: ['daily'], readOnly: true }, () => ({ pieces: 3 }))
//#endregion
