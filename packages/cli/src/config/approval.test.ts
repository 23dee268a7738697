import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { machine } from '../../test/machine.ts'
import { approvalStore, permissionFor } from './approval.ts'
import { findServers } from './servers.ts'

async function server(fixture: Awaited<ReturnType<typeof machine>>) {
  const [found] = (await findServers(fixture.system)).servers
  if (found === undefined) throw new Error('no server')
  return found
}

describe('a project server', () => {
  test('needs approval, and again when its definition changes', async () => {
    await using fixture = await machine()
    const store = approvalStore(join(fixture.home, '.unfold'))
    await fixture.write('.mcp.json', { mcpServers: { one: { command: 'a' } } })
    const asked = await server(fixture)
    expect(permissionFor(asked, await store.list())).toBe('ask')
    await store.approve(asked)
    expect(permissionFor(asked, await store.list())).toBe('allowed')
    await fixture.write('.mcp.json', '// moved about\n{ "mcpServers": { "one": { "command": "a" } } }')
    expect(permissionFor(await server(fixture), await store.list())).toBe('allowed')
    await fixture.write('.mcp.json', { mcpServers: { one: { command: 'a', args: ['--more'] } } })
    expect(permissionFor(await server(fixture), await store.list())).toBe('ask')
  })

  test('needs approval again when its envFile changes', async () => {
    await using fixture = await machine()
    const store = approvalStore(join(fixture.home, '.unfold'))
    await fixture.write('.env', 'A=1')
    await fixture.write('.vscode/mcp.json', { servers: { one: { command: 'a', envFile: '.env' } } })
    await store.approve(await server(fixture))
    expect(permissionFor(await server(fixture), await store.list())).toBe('allowed')
    await fixture.write('.env', 'NODE_OPTIONS=--import=./more.js')
    expect(permissionFor(await server(fixture), await store.list())).toBe('ask')
  })

  test('needs approval in each folder', async () => {
    await using first = await machine()
    await using second = await machine()
    const store = approvalStore(join(first.home, '.unfold'))
    for (const fixture of [first, second]) await fixture.write('.mcp.json', { mcpServers: { one: { command: 'a' } } })
    await store.approve(await server(first))
    expect(permissionFor(await server(second), await store.list())).toBe('ask')
  })

  test('needs approval again after it was revoked', async () => {
    await using fixture = await machine()
    const store = approvalStore(join(fixture.home, '.unfold'))
    await fixture.write('.mcp.json', { mcpServers: { one: { command: 'a' } } })
    await store.approve(await server(fixture))
    await store.revoke(await server(fixture))
    expect(permissionFor(await server(fixture), await store.list())).toBe('ask')
  })

  test('has one approval, regardless of how often it changes', async () => {
    await using fixture = await machine()
    const store = approvalStore(join(fixture.home, '.unfold'))
    for (const command of ['a', 'b', 'c']) {
      await fixture.write('.mcp.json', { mcpServers: { one: { command } } })
      await store.approve(await server(fixture))
    }
    expect(await store.list()).toHaveLength(1)
  })
})

test('a user server needs no approval', async () => {
  await using fixture = await machine()
  await fixture.write('~/.cursor/mcp.json', { mcpServers: { one: { command: 'a' } } })
  expect(permissionFor(await server(fixture), [])).toBe('allowed')
})

describe('the approvals file', () => {
  test.skipIf(process.platform === 'win32')('is readable by its owner only, and leaves no temporary files behind', async () => {
    await using fixture = await machine()
    await fixture.write('.mcp.json', { mcpServers: { one: { command: 'a' } } })
    const folder = join(fixture.home, '.unfold')
    await approvalStore(folder).approve(await server(fixture))
    expect((await stat(join(folder, 'approved.json'))).mode & 0o777).toBe(0o600)
    expect((await stat(folder)).mode & 0o777).toBe(0o700)
    expect(await readdir(folder)).toEqual(['approved.json'])
  })

  test.each([
    '{ damaged',
    '[]',
    '{"format":"unfold-approvals","version":2,"approved":[]}',
    '{"format":"other","version":1,"approved":[]}',
  ])('is ignored if it contains %s, and can be written again', async (content) => {
    await using fixture = await machine()
    await fixture.write('.mcp.json', { mcpServers: { one: { command: 'a' } } })
    const file = await fixture.write('~/.unfold/approved.json', content)
    await chmod(file, 0o600)
    const warnings: string[] = []
    const store = approvalStore(join(fixture.home, '.unfold'), (message) => warnings.push(message))
    expect(await store.list()).toEqual([])
    expect(warnings).toEqual([`Ignoring ${file}; projects need approval again. The file is damaged, or from a newer version.`])
    await store.approve(await server(fixture))
    expect(await store.list()).toHaveLength(1)
  })

  test.skipIf(process.platform === 'win32')('is ignored if others can write it', async () => {
    await using fixture = await machine()
    await fixture.write('.mcp.json', { mcpServers: { one: { command: 'a' } } })
    const warnings: string[] = []
    const store = approvalStore(join(fixture.home, '.unfold'), (message) => warnings.push(message))
    await store.approve(await server(fixture))
    const file = join(fixture.home, '.unfold', 'approved.json')
    await chmod(file, 0o666)
    expect(await store.list()).toEqual([])
    expect(warnings).toEqual([
      `Ignoring ${file}; projects need approval again. The file is writable by others; run chmod 600 on it.`,
    ])
  })

  test('invalid entries are skipped', async () => {
    await using fixture = await machine()
    await fixture.write('.mcp.json', { mcpServers: { one: { command: 'a' } } })
    const store = approvalStore(join(fixture.home, '.unfold'))
    await store.approve(await server(fixture))
    const file = join(fixture.home, '.unfold', 'approved.json')
    const saved = JSON.parse(await readFile(file, 'utf8')) as { approved: unknown[] }
    await writeFile(file, JSON.stringify({ ...saved, approved: [null, 5, { file: 'x' }, ...saved.approved] }))
    expect(await store.list()).toHaveLength(1)
  })
})
