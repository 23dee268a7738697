import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ActivationStore, defineToolbox, memoryStore, type Remember, type Report } from '@unfold-mcp/server'
import { fileStore } from '@unfold-mcp/server/stores/file'
import { expect } from 'vitest'
import { verifies } from '../verifies.ts'

const ann = { id: 'ann' }
const bob = { id: 'bob' }

const hub = (remember: Remember, store: ActivationStore = memoryStore(), reports: Report[] = []) =>
  defineToolbox({
    name: 'hub',
    version: '1.0.0',
    groups: { files: { description: 'Files' }, network: { description: 'Network', default: true } },
    remember,
    store,
    report: (report) => reports.push(report),
  })
    .tool('read_file', { group: 'files' }, () => 'contents')
    .tool('fetch_url', { group: 'network' }, () => 'fetched')

const tools = (names: readonly string[]) => names.filter((name) => !name.includes('activate'))

verifies('R16-1', async ({ serve }) => {
  const server = await serve(hub('reconnect'))
  const first = await server.connect({ principal: ann })
  await first.call('activate_files')
  await first.call('deactivate', { group: 'network' })
  await first.close()
  const second = await server.connect({ principal: ann })
  expect(tools(await second.toolNames())).toEqual(['read_file'])
})

verifies('R16-2', async ({ serve }) => {
  const folder = await mkdtemp(join(tmpdir(), 'unfold-store-'))
  try {
    const before = await serve(hub('reconnect', fileStore(folder)))
    const first = await before.connect({ principal: ann })
    await first.call('activate_files')
    await before.close()
    const after = await serve(hub('reconnect', fileStore(folder)))
    const second = await after.connect({ principal: ann })
    expect(tools(await second.toolNames())).toEqual(['read_file', 'fetch_url'])
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
})

verifies('R16-3', async ({ serve }) => {
  const server = await serve(hub('session'))
  const first = await server.connect({ principal: ann })
  await first.call('activate_files')
  await first.close()
  const second = await server.connect({ principal: ann })
  expect(tools(await second.toolNames())).toEqual(['fetch_url'])
})

verifies('R16-4', async ({ serve }) => {
  const server = await serve(hub('reconnect'))
  const first = await server.connect({ principal: ann })
  await first.call('activate_files')
  const other = await server.connect({ principal: bob })
  const anonymous = await server.connect()
  await anonymous.call('activate_files')
  await anonymous.close()
  const anonymousAgain = await server.connect()
  expect(tools(await other.toolNames())).toEqual(['fetch_url'])
  expect(tools(await anonymousAgain.toolNames())).toEqual(['fetch_url'])
})

verifies('R16-5', async ({ serve }) => {
  const reports: Report[] = []
  const broken: ActivationStore = {
    load: () => Promise.reject(new Error('disk is gone')),
    save: () => Promise.reject(new Error('disk is full')),
  }
  const server = await serve(hub('reconnect', broken, reports))
  const client = await server.connect({ principal: ann })
  await client.call('activate_files')
  await client.waitForListChanges(1)
  expect(tools(await client.toolNames())).toEqual(['read_file', 'fetch_url'])
  expect(reports.map(({ reason }) => reason)).toEqual(['store_failed', 'store_failed'])
})

verifies('R12-4', async ({ serve }) => {
  const server = await serve(hub('principal'))
  const [one, other] = [await server.connect({ principal: ann }), await server.connect({ principal: ann })]
  expect(await one.toolNames()).toEqual(['activate_files', 'activate_network', 'deactivate', 'fetch_url'])
  await one.call('activate_files')
  await Promise.all([one.waitForListChanges(1), other.waitForListChanges(1)])
  for (const client of [one, other]) expect(tools(await client.toolNames())).toEqual(['read_file', 'fetch_url'])
  await one.close()
  await other.close()
  const later = await server.connect({ principal: ann })
  expect(tools(await later.toolNames())).toEqual(['read_file', 'fetch_url'])
})

verifies('R12-5', async ({ serve }) => {
  const server = await serve(hub('principal'))
  const [one, other] = [await server.connect({ principal: ann }), await server.connect({ principal: bob })]
  await one.call('activate_files')
  await one.waitForListChanges(1)
  await other.settle()
  expect(other.listChanges).toBe(0)
  expect(tools(await other.toolNames())).toEqual(['fetch_url'])
})
