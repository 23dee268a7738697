// A server with the data of a shop: bulky records, pages, a tool that fails twice, and tools that write.
import { defineToolbox, serve, ToolError } from '@unfold-mcp/server'
import { z } from 'zod'

const countries = ['DE', 'FR', 'IT', 'ES', 'PL', 'NL']
const plans = ['free', 'team', 'enterprise'] as const
const states = ['paid', 'shipped', 'late', 'returned', 'delivered']

const customers = Array.from({ length: 120 }, (_, index) => ({
  id: index + 1,
  name: `Customer ${index + 1} GmbH`,
  country: countries[(index * 7) % countries.length] ?? '',
  plan: plans[(index * 5) % 7 === 0 ? 2 : index % 2] ?? 'free',
  email: `office${index + 1}@example.com`,
  phone: `+49 30 555${String(index).padStart(4, '0')}`,
  address: `${index + 1} Example Street, 10${String(index).padStart(3, '0')} Example City`,
  createdAt: new Date(Date.UTC(2024, index % 12, (index % 27) + 1)).toISOString(),
  managerId: (index % 9) + 1,
}))

const orders = Array.from({ length: 500 }, (_, index) => ({
  id: index + 1,
  customerId: ((index * 37) % customers.length) + 1,
  sku: `SKU-${String((index * 13) % 60).padStart(3, '0')}`,
  cents: 500 + ((index * 7919) % 95_000),
  state: index % 97 === 5 ? 'returned' : index % 41 === 7 ? 'late' : (states[index % 2] ?? ''),
  placedOn: `2026-0${(index % 9) + 1}-${String((index % 27) + 1).padStart(2, '0')}`,
}))

const customerSchema = z.object({
  id: z.int(),
  name: z.string(),
  country: z.string(),
  plan: z.enum(['free', 'team', 'enterprise']),
  email: z.string(),
  phone: z.string(),
  address: z.string(),
  createdAt: z.string(),
  managerId: z.int(),
})

const orderSchema = z.object({
  id: z.int(),
  customerId: z.int(),
  sku: z.string(),
  cents: z.int(),
  state: z.string(),
  placedOn: z.string(),
})

const id = z.object({ id: z.int() })

function found<T>(item: T | undefined, what: string): T {
  if (item === undefined) throw new ToolError(`There is no such ${what}.`)
  return item
}

let tickets = 0
const failures = new Map<string, number>()

const office = defineToolbox({ name: 'office', version: '1.0.0', exposure: 'everything' })

office.tool(
  'list_customers',
  {
    description: 'List customers, a page at a time.',
    input: z.object({ page: z.int().min(1).default(1), perPage: z.int().min(1).max(100).default(20) }),
    output: z.object({ customers: z.array(customerSchema), nextPage: z.int().optional() }),
    readOnly: true,
  },
  ({ page, perPage }) => {
    const end = page * perPage
    return { customers: customers.slice(end - perPage, end), ...(end < customers.length && { nextPage: page + 1 }) }
  },
)

office.tool(
  'export_orders',
  {
    description: 'Export all orders of this year.',
    output: z.object({ orders: z.array(orderSchema) }),
    readOnly: true,
  },
  () => ({ orders }),
)

office.tool(
  'get_order',
  { description: 'Get an order by its number.', input: id, output: orderSchema, readOnly: true },
  (input) => found(orders[input.id - 1], 'order'),
)

office.tool(
  'get_customer',
  { description: 'Get a customer by number.', input: id, output: customerSchema, readOnly: true },
  (input) => found(customers[input.id - 1], 'customer'),
)

office.tool(
  'get_manager',
  {
    description: 'Get the account manager with this number.',
    input: id,
    output: z.object({ id: z.int(), name: z.string(), calendar: z.string() }),
    readOnly: true,
  },
  (input) => ({ id: input.id, name: `Manager ${input.id}`, calendar: `cal-${input.id * 11}` }),
)

office.tool(
  'next_slot',
  {
    description: 'Find the next free slot in a calendar.',
    input: z.object({ calendar: z.string() }),
    output: z.object({ at: z.string() }),
    readOnly: true,
  },
  ({ calendar }) => ({ at: `2026-09-${String((calendar.length * 3) % 28).padStart(2, '0')}T10:00:00Z` }),
)

office.tool(
  'get_stock',
  {
    description: 'Get the stock of an article in all warehouses.',
    input: z.object({ sku: z.string().describe('Such as SKU-007') }),
    output: z.object({
      sku: z.string(),
      reorderAt: z.int(),
      warehouses: z.array(z.object({ city: z.string(), units: z.int(), shelf: z.string() })),
    }),
    readOnly: true,
  },
  ({ sku }) => {
    const number = Number(sku.slice(4))
    const warehouses = ['Berlin', 'Lyon', 'Turin'].map((city, index) => ({
      city,
      units: (number * (index + 3)) % 23,
      shelf: `${city.charAt(0)}-${number}-${index}`,
    }))
    return { sku, reorderAt: 12, warehouses }
  },
)

office.tool(
  'get_rate',
  {
    description: 'Get the exchange rate of a currency to the euro. Fails while the bank updates its rates; then try again.',
    input: z.object({ currency: z.string() }),
    output: z.object({ currency: z.string(), rate: z.number() }),
    readOnly: true,
  },
  ({ currency }) => {
    const count = (failures.get(currency) ?? 0) + 1
    failures.set(currency, count % 3)
    if (count < 3) throw new ToolError('The bank is updating its rates. Try again.')
    return { currency, rate: currency.charCodeAt(0) / 64 }
  },
)

office.tool(
  'create_ticket',
  {
    description: 'Open a ticket for a customer.',
    input: z.object({ customerId: z.int(), title: z.string(), body: z.string(), priority: z.enum(['low', 'high']) }),
    output: z.object({ number: z.int(), url: z.string() }),
  },
  () => {
    tickets += 1
    return { number: tickets, url: `https://tickets.example.com/${tickets}` }
  },
)

await serve(office)
