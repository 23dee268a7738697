import { one, resultIn, type Turn, type Workflow } from '../workflow.ts'

interface Customer {
  readonly id: number
  readonly name: string
  readonly country: string
  readonly plan: string
  readonly managerId: number
}

interface Order {
  readonly id: number
  readonly customerId: number
  readonly cents: number
  readonly state: string
}

interface Page {
  readonly customers: readonly Customer[]
  readonly nextPage?: number
}

async function everyCustomer(turn: Turn, perPage: number): Promise<readonly Customer[]> {
  const all: Customer[] = []
  for (let page: number | undefined = 1; page !== undefined; ) {
    const reply: Page = await one<Page>(turn, 'office__list_customers', { page, perPage })
    all.push(...reply.customers)
    page = reply.nextPage
  }
  return all
}

const skus = Array.from({ length: 40 }, (_, index) => `SKU-${String(index).padStart(3, '0')}`)

interface Stock {
  readonly sku: string
  readonly reorderAt: number
  readonly warehouses: readonly { readonly units: number }[]
}

const isLow = ({ reorderAt, warehouses }: Stock): boolean => warehouses.reduce((sum, { units }) => sum + units, 0) < reorderAt

const ticketOf = ({ id, customerId, cents }: Order) => ({
  customerId,
  title: `Order ${id} is late`,
  body: `Order ${id} of customer ${customerId}, worth ${cents / 100} EUR, has not arrived. Ask the carrier and call the customer.`,
  priority: cents > 50_000 ? 'high' : 'low',
})

/** Tasks on the data of a shop. */
export const officeWorkflows: readonly Workflow[] = [
  {
    name: 'one call',
    isReal: false,
    task: 'What is the state of order 17?',
    queries: ['get order by number'],
    types: [],
    solve: async (turn) => (await one<Order>(turn, 'office__get_order', { id: 17 })).state,
    code: 'return (await tools.office.get_order({ id: 17 })).state',
  },
  {
    name: 'filter 500 records to 5',
    isReal: false,
    task: 'Which orders were returned? Give their numbers and customers.',
    queries: ['export orders'],
    types: ['office__export_orders'],
    solve: async (turn) => {
      const { orders } = await one<{ orders: readonly Order[] }>(turn, 'office__export_orders')
      return orders.filter(({ state }) => state === 'returned').map(({ id, customerId }) => ({ id, customerId }))
    },
    code: `const { orders } = await tools.office.export_orders()
return orders.filter((order) => order.state === 'returned').map(({ id, customerId }) => ({ id, customerId }))`,
  },
  {
    name: 'join two lists',
    isReal: false,
    task: 'What is the revenue by country, in cents, without returned orders?',
    queries: ['export orders', 'list customers'],
    types: ['office__export_orders', 'office__list_customers'],
    solve: async (turn) => {
      const { orders } = await one<{ orders: readonly Order[] }>(turn, 'office__export_orders')
      const customers = await everyCustomer(turn, 100)
      return revenue(orders, customers)
    },
    code: `const { orders } = await tools.office.export_orders()
const country = new Map<number, string>()
for (let page: number | undefined = 1; page; ) {
  const reply = await tools.office.list_customers({ page, perPage: 100 })
  for (const { id, country: code } of reply.customers) country.set(id, code)
  page = reply.nextPage
}
const sums: Record<string, number> = {}
for (const { customerId, cents, state } of orders)
  if (state !== 'returned') sums[country.get(customerId)!] = (sums[country.get(customerId)!] ?? 0) + cents
return sums`,
  },
  {
    name: 'paginate',
    isReal: false,
    task: 'How many customers in Germany have the plan "enterprise"?',
    queries: ['list customers'],
    types: ['office__list_customers'],
    solve: async (turn) =>
      (await everyCustomer(turn, 20)).filter(({ country, plan }) => country === 'DE' && plan === 'enterprise').length,
    code: `let count = 0
for (let page: number | undefined = 1; page; ) {
  const reply = await tools.office.list_customers({ page })
  count += reply.customers.filter(({ country, plan }) => country === 'DE' && plan === 'enterprise').length
  page = reply.nextPage
}
return count`,
  },
  {
    name: 'fan out 40 calls',
    isReal: false,
    task: `Which of these articles must be reordered: ${skus[0]} to ${skus.at(-1)}?`,
    queries: ['get stock of an article'],
    types: ['office__get_stock'],
    solve: async (turn) => {
      const replies = await turn(skus.map((sku) => ({ name: 'office__get_stock', arguments: { sku } })))
      return replies
        .map((reply) => resultIn<Stock>(reply))
        .filter(isLow)
        .map(({ sku }) => sku)
    },
    code: `const skus = Array.from({ length: 40 }, (_, i) => 'SKU-' + String(i).padStart(3, '0'))
const all = await Promise.all(skus.map((sku) => tools.office.get_stock({ sku })))
return all.filter(({ reorderAt, warehouses }) => warehouses.reduce((sum, { units }) => sum + units, 0) < reorderAt).map(({ sku }) => sku)`,
  },
  {
    name: 'retry on error',
    isReal: false,
    task: 'What are 100 dollars, pounds and francs in euros? The rates may need several attempts.',
    queries: ['exchange rate of a currency'],
    types: ['office__get_rate'],
    solve: async (turn) => {
      const rates: Record<string, number> = {}
      let left = ['USD', 'GBP', 'CHF']
      for (let attempt = 0; left.length > 0 && attempt < 5; attempt++) {
        const replies = await turn(left.map((currency) => ({ name: 'office__get_rate', arguments: { currency } })))
        for (const [index, reply] of replies.entries()) {
          const currency = left[index]
          if (currency !== undefined && 'value' in reply) rates[currency] = 100 * resultIn<{ rate: number }>(reply).rate
        }
        left = left.filter((currency) => rates[currency] === undefined)
      }
      return rates
    },
    code: `const result: Record<string, number> = {}
for (const currency of ['USD', 'GBP', 'CHF'])
  for (let attempt = 0; attempt < 5; attempt++)
    try {
      result[currency] = 100 * (await tools.office.get_rate({ currency })).rate
      break
    } catch {}
return result`,
  },
  {
    name: 'transform and write',
    isReal: false,
    task: 'Open a ticket for each late order, with high priority above 500 EUR. How many did you open?',
    queries: ['export orders', 'open a ticket'],
    types: ['office__export_orders', 'office__create_ticket'],
    solve: async (turn) => {
      const { orders } = await one<{ orders: readonly Order[] }>(turn, 'office__export_orders')
      const late = orders.filter(({ state }) => state === 'late')
      const replies = await turn(late.map((order) => ({ name: 'office__create_ticket', arguments: ticketOf(order) })))
      return replies.filter((reply) => 'value' in reply).length
    },
    code: `const { orders } = await tools.office.export_orders()
const late = orders.filter(({ state }) => state === 'late')
const opened = await Promise.all(late.map(({ id, customerId, cents }) => tools.office.create_ticket({
  customerId,
  title: \`Order \${id} is late\`,
  body: \`Order \${id} of customer \${customerId}, worth \${cents / 100} EUR, has not arrived. Ask the carrier and call the customer.\`,
  priority: cents > 50_000 ? 'high' : 'low',
})))
return opened.length`,
  },
  {
    name: 'chain of lookups',
    isReal: false,
    task: 'When is the next free slot of the account manager for the customer of order 42?',
    queries: ['get order by number', 'get customer', 'get account manager', 'next free slot in a calendar'],
    types: ['office__get_order', 'office__get_customer', 'office__get_manager', 'office__next_slot'],
    solve: async (turn) => {
      const { customerId } = await one<Order>(turn, 'office__get_order', { id: 42 })
      const { managerId } = await one<Customer>(turn, 'office__get_customer', { id: customerId })
      const { calendar } = await one<{ calendar: string }>(turn, 'office__get_manager', { id: managerId })
      return (await one<{ at: string }>(turn, 'office__next_slot', { calendar })).at
    },
    code: `const { customerId } = await tools.office.get_order({ id: 42 })
const { managerId } = await tools.office.get_customer({ id: customerId })
const { calendar } = await tools.office.get_manager({ id: managerId })
return (await tools.office.next_slot({ calendar })).at`,
  },
  {
    name: 'look up for each match',
    isReal: false,
    task: 'Which customers have returned an order, by name and plan?',
    queries: ['export orders', 'get customer'],
    types: ['office__export_orders', 'office__get_customer'],
    solve: async (turn) => {
      const { orders } = await one<{ orders: readonly Order[] }>(turn, 'office__export_orders')
      const ids = [...new Set(orders.filter(({ state }) => state === 'returned').map(({ customerId }) => customerId))]
      const replies = await turn(ids.map((id) => ({ name: 'office__get_customer', arguments: { id } })))
      return replies.map((reply) => resultIn<Customer>(reply)).map(({ name, plan }) => ({ name, plan }))
    },
    code: `const { orders } = await tools.office.export_orders()
const ids = new Set(orders.filter(({ state }) => state === 'returned').map(({ customerId }) => customerId))
const customers = await Promise.all([...ids].map((id) => tools.office.get_customer({ id })))
return customers.map(({ name, plan }) => ({ name, plan }))`,
  },
]

function revenue(orders: readonly Order[], customers: readonly Customer[]): Readonly<Record<string, number>> {
  const country = new Map(customers.map(({ id, country: code }) => [id, code]))
  const sums: Record<string, number> = {}
  for (const { customerId, cents, state } of orders) {
    const code = country.get(customerId) ?? ''
    if (state !== 'returned') sums[code] = (sums[code] ?? 0) + cents
  }
  return sums
}
