import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { configJsonSchema } from './json-schema.ts'
import { keysAt } from './schema.ts'

test('the published schema matches the configuration (if not, write configJsonSchema() to unfold.schema.json)', async () => {
  const published: unknown = JSON.parse(await readFile(join(import.meta.dirname, '../../unfold.schema.json'), 'utf8'))
  expect(published).toEqual(JSON.parse(JSON.stringify(configJsonSchema())))
})

test('suggestions include the keys of every object', () => {
  expect(keysAt([], false)).toContain('mcpServers')
  expect(keysAt(['mcpServers', 'a'], false)).toContain('command')
  expect(keysAt(['mcpServers', 'a'], true)).toContain('url')
  expect(keysAt(['mcpServers', 'a', 'tools', 'x'], false)).toContain('pinned')
  expect(keysAt(['groups', 'a'], false)).toContain('description')
  expect(keysAt(['profiles', 'a'], false)).toContain('except')
  expect(keysAt(['tokens', 0], false)).toContain('hash')
  expect(keysAt(['search'], false)).toContain('learn')
  for (const path of [['search'], ['profiles', 'a', 'search']]) {
    expect(keysAt(path, false)).toContain('deadlineMs')
    expect(keysAt([...path, 'embedder'], false)).toContain('apiKey')
  }
  expect(keysAt(['profiles', 'a', 'servers'], false)).toEqual([])
  for (const path of [['sandbox'], ['mcpServers', 'a', 'sandbox']]) expect(keysAt(path, false)).toContain('network')
  expect(keysAt(['limits'], false)).toContain('bodyBytes')
  expect(keysAt(['mcpServers', 'a', 'env'], false)).toEqual([])
})
