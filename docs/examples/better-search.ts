import { defineToolbox, type Principal } from '@unfold-mcp/server'
import { openAiEmbedder, type Rank } from '@unfold-mcp/server/search'

interface Staff extends Principal {
  readonly department: string
}

//#region rank
/** Tools of the asker's own department first; among equals the order stays as it was. */
const ownFirst: Rank<Staff> = (_query, matches, { principal }) => {
  const isOwn = (name: string) => principal !== undefined && name.startsWith(`${principal.department}_`)
  return matches.toSorted((a, b) => Number(isOwn(b.tool.name)) - Number(isOwn(a.tool.name)))
}
//#endregion

export function companyWith(url: string) {
  //#region embedder
  const company = defineToolbox({
    name: 'company',
    version: '1.0.0',
    exposure: 'search',
    search: {
      embedder: openAiEmbedder({ url, model: 'nomic-embed-text' }), // such as 'http://127.0.0.1:11434/v1'
      rank: ownFirst,
      learn: true,
    },
  })
  //#endregion
  company.tool('sales_hire_car', { description: 'Hire a vehicle for a visit' }, () => 'Hired.')
  company.tool('sales_write_offer', { description: 'Write an offer to a customer' }, () => 'Written.')
  company.tool('kitchen_order_fish', { description: 'Order fish for the canteen' }, () => 'Ordered.')
  company.tool('office_book_room', { description: 'Book a room for a meeting' }, () => 'Booked.')
  return company
}
