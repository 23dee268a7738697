import { expect, test } from 'vitest'
import { SearchIndex } from '../search-index.ts'

const tool = (source: string, name: string) => ({ id: `${source}.${name}`, source, name, description: `Tool to ${name}` })

/** Results of an index that was searched before each change, and of one that was not. */
function compared(change: (index: SearchIndex) => void): readonly unknown[] {
  const results = [true, false].map((isSearchedBefore) => {
    const index = new SearchIndex()
    for (let i = 0; i < 12; i++) index.set(tool(`server${i % 3}`, `find_${i % 2 === 0 ? 'ticket' : 'customer'}_${i}`))
    if (isSearchedBefore) index.search('find the ticket of a customer')
    change(index)
    return index.search('find the ticket of a customer')
  })
  return results
}

test.each<[string, (index: SearchIndex) => void]>([
  ['another tool', (index) => index.set(tool('server1', 'find_ticket_history'))],
  ['a tool of another source', (index) => index.set(tool('server9', 'close_case'))],
  [
    'many tools of one source',
    (index) => {
      for (let i = 0; i < 30; i++) index.set(tool('server1', `find_ticket_copy_${i}`))
    },
  ],
  ['a removed tool', (index) => index.delete('server0.find_ticket_0')],
  ['a changed tool', (index) => index.set({ ...tool('server0', 'find_ticket_0'), name: 'list_weather' })],
  [
    'the last tools of a source',
    (index) => {
      for (const i of [2, 5, 8, 11]) index.delete(`server2.find_${i % 2 === 0 ? 'ticket' : 'customer'}_${i}`)
    },
  ],
])('%s: an earlier search does not affect later ones', (_, change) => {
  const [searched, fresh] = compared(change)
  expect(searched).toEqual(fresh)
})
