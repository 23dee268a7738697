import type { OutlinedTool } from '@unfold-mcp/client'
import { expect, test } from 'vitest'
import { catalogChanges, fullListTarget } from './full-catalog.ts'

const tool = (name: string, identity: string): OutlinedTool => ({ name, identity, tokens: 10 })

test('added, removed and changed tools are reported once, by name', async () => {
  const states = [
    [tool('a', '1'), tool('b', '1')],
    [tool('a', '1'), tool('b', '1')],
    [tool('b', '2'), tool('c', '1')],
  ]
  let at = 0
  let asked = 0
  const stop = new AbortController()
  const connection = {
    async identity() {
      at = Math.min(at + 1, states.length - 1)
      return { server_id: 'x', tools_count: 1, protocol_version: '1.0', catalog: { identity: at < 2 ? 'first' : 'second' } }
    },
    async outline() {
      asked++
      return { tools: states[at] ?? [], groups: [] }
    },
  }
  for await (const change of catalogChanges(connection, states[0] ?? [], { signal: stop.signal, intervalMs: 1 })) {
    expect(change).toEqual({ added: ['c'], removed: ['a'], changed: ['b'], count: 2, identity: 'second' })
    stop.abort()
  }
  // Once initially, and once for the change.
  expect(asked).toBe(2)
})

test('a URL requests all tools unless it requests a view', () => {
  expect(fullListTarget({ url: 'http://127.0.0.1:7420/mcp/work' })).toEqual({
    url: 'http://127.0.0.1:7420/mcp/work?exposure=everything',
  })
  expect(fullListTarget({ url: 'http://127.0.0.1:7420/mcp?groups=a' })).toBeUndefined()
  expect(fullListTarget({ command: 'unfold' })).toBeUndefined()
})
