import { defineToolbox, listen, type Principal, type Report, unauthorized } from '@unfold-mcp/server'
import { expect } from 'vitest'
import { reasonOf, refusalOf, textOf } from '../replies.ts'
import { verifies } from '../verifies.ts'

const info = { name: 'hub', version: '1.0.0' }
interface Member extends Principal {
  readonly roles: readonly string[]
}
const [ann, bob]: readonly [Member, Member] = [
  { id: 'ann', roles: ['admin'] },
  { id: 'bob', roles: [] },
]
const isAdmin = (principal: Member | undefined): boolean => principal?.roles.includes('admin') === true

/** `vault` has only admin tools, `files` has both kinds. */
const secured = (more: { readonly hiddenCalls?: 'opaque' | 'hint' | 'reveal' } = {}) =>
  defineToolbox({
    ...info,
    ...more,
    groups: { files: { description: 'Files' }, vault: { description: 'Secrets of the house' } },
    permit: (principal: Member | undefined, tool) => !tool.name.startsWith('admin_') || isAdmin(principal),
  })
    .tool('read_file', { group: 'files' }, () => 'contents')
    .tool('admin_wipe', { group: 'files' }, () => 'wiped')
    .tool('admin_unseal', { group: 'vault' }, () => 'unsealed')
    .tool('admin_reset', {}, () => 'reset')
    .tool('who', {}, (_, ctx) => ctx.principal?.id ?? 'nobody')

verifies('F05', async ({ connect }) => {
  const toolbox = defineToolbox({ ...info, permit: () => false }).tool('ping', {}, () => 'pong')
  const client = await connect(toolbox)
  expect(await client.toolNames()).toEqual([])
  expect(client.client.getServerCapabilities()?.tools).toEqual({ listChanged: true })
})

verifies('F07-1', async ({ serve }) => {
  const server = await serve(secured())
  const client = await server.connect({ principal: bob })
  expect(await client.toolNames()).not.toContain('admin_reset')
  expect((await refusalOf(client.call('admin_reset'))).reason).toBe('unknown_tool')
})

verifies('F07-2', async ({ serve, testTransport }) => {
  const server = await serve(secured())
  for (const principal of [ann, bob]) {
    const client = await server.connect({ principal })
    if (testTransport.era === 'session') await client.call('activate_files')
    for (const name of await client.toolNames()) {
      expect(reasonOf(await client.call(name, { group: 'files' }))).toBeUndefined()
      if (name === 'deactivate') await client.call('activate_files')
    }
  }
})

verifies('R12-2', async () => {
  const authenticate = (request: Request): Member => ({ id: request.headers.get('x-user') ?? 'nobody', roles: [] })
  await using server = await listen(secured(), { port: 0, authenticate })
  const post = (user: string, body: object, session = '') =>
    fetch(server.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'x-user': user,
        ...(session !== '' && { 'mcp-session-id': session }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...body }),
    })
  const clientInfo = { name: 'raw', version: '1.0.0' }
  const begun = await post('ann', {
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo },
  })
  const session = begun.headers.get('mcp-session-id') ?? ''
  await begun.text()
  const list = { id: 2, method: 'tools/list' }
  expect((await post('ann', list, session)).status).toBe(200)
  const stolen = await post('bob', list, session)
  const invented = await post('bob', list, '00000000-0000-4000-8000-000000000000')
  expect([stolen.status, invented.status]).toEqual([404, 404])
  expect((await stolen.text()).replaceAll(session, '…')).toBe(
    (await invented.text()).replaceAll('00000000-0000-4000-8000-000000000000', '…'),
  )
  expect((await fetch(server.url, { method: 'DELETE', headers: { 'mcp-session-id': session, 'x-user': 'bob' } })).status).toBe(
    404,
  )
  expect((await post('ann', list, session)).status).toBe(200)
})

verifies('R12-3', async ({ wire, testTransport }) => {
  for (const hiddenCalls of ['opaque', 'hint', 'reveal'] as const) {
    const client = await wire(secured({ hiddenCalls }), { principal: bob })
    const read = [client.greeting.text]
    const ask = async (method: string, params?: Record<string, unknown>) => read.push((await client.ask(method, params)).text)
    await ask('tools/list')
    await ask('tools/call', { name: 'activate_files' })
    await ask('tools/list')
    await ask('tools/call', { name: 'deactivate', arguments: { group: 'fils' } })
    await ask('tools/call', { name: 'deactivate', arguments: {} })
    await ask('tools/call', { name: 'dmin_rese' })
    await ask('tools/call', { name: 'activate_vaul' })
    const all = read.join('\n')
    expect(all).toContain('files')
    expect(all.replaceAll('activate_vaul', '')).not.toMatch(/admin_|vault|Secrets of the house/u)
    const vault = await client.ask('tools/call', { name: 'activate_vault' })
    const invented = await client.ask('tools/call', { name: 'activate_vaulx' })
    expect(vault.text.replaceAll('activate_vault', 'activate_vaulx')).toBe(invented.text)
    expect(testTransport.era === 'session' || vault.error !== undefined).toBe(true)
  }
})

verifies('R15-1', async ({ serve }) => {
  const authenticate = async (request: Request) => ({ id: request.headers.get('user-agent') ?? '', asked: true })
  const server = await serve(secured(), { authenticate })
  const client = await server.connect()
  expect(textOf(await client.call('who'))).not.toBe('nobody')
  const anonymous = await (await serve(secured(), { authenticate: () => undefined })).connect()
  expect(textOf(await anonymous.call('who'))).toBe('nobody')
})

verifies('R15-2', async ({ serve, testTransport }) => {
  const server = await serve(secured(), { authenticate: () => unauthorized('Send a token.') })
  await expect(server.connect()).rejects.toThrow(/token|401|unauthorized/iu)
  await using listening = await listen(secured(), { port: 0, authenticate: () => unauthorized('Send a token.') })
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(testTransport.era === 'stateless' && { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' }),
  }
  const refused = await fetch(listening.url, {
    method: 'POST',
    headers,
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  })
  expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
  expect(await refused.json()).toMatchObject({ error: { message: 'Send a token.', data: { reason: 'unauthorized' } } })
})

verifies('R15-3', async ({ serve, testTransport }) => {
  const server = await serve(secured())
  const [admin, other] = [await server.connect({ principal: ann }), await server.connect({ principal: bob })]
  if (testTransport.era === 'session') for (const client of [admin, other]) await client.call('activate_files')
  const shown = async (client: typeof admin) => (await client.toolNames()).filter((name) => !name.includes('activate'))
  const adminTools = testTransport.era === 'session' ? ['read_file', 'admin_wipe'] : ['read_file', 'admin_wipe', 'admin_unseal']
  expect(await shown(admin)).toEqual([...adminTools, 'admin_reset', 'who'])
  expect(await shown(other)).toEqual(['read_file', 'who'])
  expect(textOf(await admin.call('admin_reset'))).toBe('reset')
  expect((await refusalOf(other.call('admin_reset'))).reason).toBe('unknown_tool')
  expect((await refusalOf(other.call('admin_wipe'))).reason).toBe('unknown_tool')
})

verifies('R15-4', async ({ connect }) => {
  const reports: Report[] = []
  const permit = (_: unknown, { name }: { readonly name: string }): boolean => {
    if (name === 'shaky') throw new Error('directory is down')
    return true
  }
  const toolbox = defineToolbox({ ...info, permit, report: (report) => reports.push(report) })
    .tool('steady', {}, () => 'steady')
    .tool('shaky', {}, () => 'shaky')
  const client = await connect(toolbox)
  expect(await client.toolNames()).toEqual(['steady'])
  expect((await refusalOf(client.call('shaky'))).reason).toBe('unknown_tool')
  expect(reports[0]).toMatchObject({ reason: 'permission_check_failed', message: expect.stringContaining('"shaky"') })
})

verifies('R15-5', async ({ serve }) => {
  const server = await serve(secured())
  const client = await server.connect({ principal: bob })
  expect(await client.toolNames()).toEqual(['activate_files', 'deactivate', 'who'])
  expect((await refusalOf(client.call('activate_vault'))).reason).toBe('unknown_tool')
  const unknown = await client.call('deactivate', { group: 'vault' })
  expect(reasonOf(unknown)).toBe('unknown_group')
  expect(textOf(unknown)).toContain('Groups: files.')
})

verifies('R15-6', async ({ serve }) => {
  const granted = new Set<string>()
  const toolbox = defineToolbox({
    ...info,
    permit: (principal, { name }) => name !== 'reset' || granted.has(principal?.id ?? ''),
  })
    .tool('ping', {}, () => 'pong')
    .tool('reset', {}, () => 'reset')
  const server = await serve(toolbox)
  const [one, other] = [await server.connect({ principal: ann }), await server.connect({ principal: bob })]
  granted.add('ann')
  toolbox.toolListChanged()
  await one.waitForListChanges(1)
  expect(await one.toolNames()).toEqual(['ping', 'reset'])
  expect(textOf(await one.call('reset'))).toBe('reset')
  granted.delete('ann')
  expect((await refusalOf(one.call('reset'))).reason).toBe('unknown_tool')
  toolbox.toolListChanged()
  await one.waitForListChanges(2)
  await other.settle()
  expect(await one.toolNames()).toEqual(['ping'])
  expect([one.listChanges, other.listChanges]).toEqual([2, 0])
})
