import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { ownPackages, packagesFrom } from './packages.ts'

test('a clone refers to its own folders', () => {
  const root = fileURLToPath(new URL('../../../..', import.meta.url)).replace(/\/$/u, '')
  const { clone, dependency, schema } = ownPackages()
  expect(clone).toBe(root)
  expect(dependency('server')).toBe(`file:${root}/packages/server`)
  expect(schema).toBe(new URL('../../../gateway/unfold.schema.json', import.meta.url).href)
})

test('an installed package refers to its registry version', async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'unfold-packages-')))
  try {
    const cli = join(folder, 'node_modules', '@unfold-mcp', 'cli')
    await mkdir(cli, { recursive: true })
    await mkdir(join(folder, 'node_modules', '@unfold-mcp', 'server'))
    await writeFile(join(folder, 'package.json'), '{ "private": true, "workspaces": ["packages/*"] }')
    await writeFile(join(cli, 'package.json'), '{ "version": "3.2.1" }')
    const { clone, dependency, schema } = packagesFrom(cli)
    expect([clone, dependency('client'), schema]).toEqual([
      undefined,
      '3.2.1',
      'https://unpkg.com/@unfold-mcp/gateway@3.2.1/unfold.schema.json',
    ])
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
})
