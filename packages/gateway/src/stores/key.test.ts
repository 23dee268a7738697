import { expect, test } from 'vitest'
import { parseConfig } from '../config/read.ts'
import { catalogKey } from './key.ts'

function key(name: string, server: object): string {
  const { config } = parseConfig(JSON.stringify({ mcpServers: { a: server } }), { file: 'unfold.json', environment: {} })
  const { a } = config.mcpServers
  if (a === undefined) throw new Error('no server')
  return catalogKey(name, a)
}

test('the key depends on the name of an upstream and how to reach it, not on its presentation or whether it is disabled', () => {
  const kept = key('git', { command: 'x', env: { A: '1', B: '2' } })
  expect(kept).toMatch(/^git@[0-9a-f]{16}$/u)
  expect(key('git', { env: { B: '2', A: '1' }, command: 'x', description: 'Git', disabled: true })).toBe(kept)
  expect(key('git', { command: 'x', env: { A: '1' } })).not.toBe(kept)
  expect(key('hub', { command: 'x', env: { A: '1', B: '2' } })).not.toBe(kept)
})
