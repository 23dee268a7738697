import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../../client/test/processes.ts'
import type {
  ApprovalReport,
  AuditRecords,
  AuditVerification,
  ClientView,
  ConfigEdit,
  ListChange,
  RecentCall,
  ServerSettings,
  SettingsResult,
} from '../src/admin/contract.ts'
import { createToken } from '../src/config/tokens.ts'
import { served } from './served.ts'
import { server } from './upstreams.ts'

const viewer = createToken('watcher', { role: 'viewer' })
const client = createToken('laptop')
const operator = createToken('ops', { role: 'operator' })
const secret = 'swordfish-swordfish'
const box = { ...server('toolbox.mjs'), env: { SECRET_TOKEN: secret } }
const spare = { command: 'node', args: ['--token', 'first-secret', '--password', 'second-secret'], disabled: true }
const config = {
  mcpServers: { box, mirror: server('mirror.mjs'), spare },
  tokens: [viewer.record, operator.record, client.record],
  audit: { path: 'audit.jsonl' },
  policy: {
    rules: [
      { effect: 'deny', tool: 'die' },
      { effect: 'ask', tool: 'remove' },
    ],
  },
}

let edge: Awaited<ReturnType<typeof served>>
beforeAll(async () => {
  edge = await served(config)
  await Promise.all([edge.ready('box'), edge.ready('mirror')])
})
afterAll(() => edge[Symbol.asyncDispose]())

const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

function call(
  name: string,
  token: string,
  args: object = {},
  { _meta, ...more }: { readonly _meta?: object; readonly requestState?: string } = {},
): Promise<Response> {
  return fetch(`${edge.origin}/api/mcp`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: args, ...more, _meta: { ...meta, ..._meta } },
    }),
  })
}

const api = async <T>(path: string): Promise<T> => (await edge.api(path)) as T

async function messageOf(response: Response): Promise<unknown> {
  const text = await response.text()
  return JSON.parse(/^data: (.*)$/mu.exec(text)?.[1] ?? text)
}

interface Posted<T> {
  readonly status: number
  readonly body: T
}

async function post<T>(path: string, body: object, token = edge.admin): Promise<Posted<T>> {
  const response = await fetch(`${edge.origin}/api${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: (await response.json()) as T }
}

test('AT-UI-21 (X21): a call of the page passes the policy and is recorded under the token that made it', async () => {
  expect((await call('mirror__show', viewer.token)).status).toBe(403)
  expect((await call('mirror__show', client.token)).status).toBe(403)
  const shown = await call('mirror__show', operator.token)
  expect(shown.headers.get('x-content-type-options')).toBe('nosniff')
  expect(await messageOf(shown)).toMatchObject({ result: { content: [{ type: 'text' }] } })
  // The policy denies it for everybody, so it does not exist.
  expect(JSON.stringify(await messageOf(await call('mirror__die', operator.token)))).toContain('unknown_tool')
  await until(async () => {
    const { records } = await api<AuditRecords>('/audit?limit=20')
    return records.some(({ type, client: caller, tool }) => type === 'call' && caller === 'token:ops' && tool === 'show')
  }, 'the call is in the audit log')
  expect(await api<AuditVerification>('/audit/verify')).toMatchObject({ isConfigured: true, isIntact: true })
  expect(edge.gateway.source.entries().some(({ tool }) => tool.name === 'mirror__die')).toBe(true)
})

test('only tools/call is served to the page', async () => {
  const response = await fetch(`${edge.origin}/api/mcp`, {
    method: 'POST',
    headers: { authorization: `Bearer ${operator.token}` },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: {} }),
  })
  expect(response.status).toBe(400)
})

test('AT-UI-22 (X22): a search is previewed as a model would read it, with the reasons for the order, and is not learned from', async () => {
  const { search } = await api<ClientView>('/view?search=show%20the%20mirror')
  expect(search?.matches[0]).toMatchObject({ name: 'mirror__show', upstream: 'mirror' })
  expect(search?.matches[0]?.why?.words.length).toBeGreaterThan(0)
  expect(search?.reply).toContain('mirror__show')
  expect(search?.replyTokens).toBeGreaterThan(0)
})

test('the effect of an activation is previewed', async () => {
  const query = 'query=exposure%3Dgroups'
  const before = await api<ClientView>(`/view?${query}`)
  const after = await api<ClientView>(`/view?${query}&activate=mirror`)
  const names = ({ listed }: ClientView) => listed.map(({ definition }) => ('name' in definition ? definition.name : ''))
  expect(names(before)).not.toContain('mirror__show')
  expect(names(after)).toContain('mirror__show')
  expect(after.listedTokens).toBeGreaterThan(before.listedTokens)
})

describe('settings of a server', () => {
  const path = '/upstreams/box/settings'

  test('AT-UI-23 (X23): secrets are masked, and a mask that is sent back does not replace the secret', async () => {
    const { settings, schema } = await api<ServerSettings>(path)
    expect(settings.env).toEqual({ SECRET_TOKEN: '***' })
    expect(Object.keys(schema.properties as object)).toContain('timeoutMs')
    const changes = [
      { path: ['env', 'SECRET_TOKEN'], value: '***' },
      { path: ['description'], value: 'Boxes' },
    ]
    const { body } = await post<SettingsResult>(path, { changes })
    expect(body).toMatchObject({ isWritten: true, needsApproval: false, differences: [{ path: 'description', after: 'Boxes' }] })
    const text = await readFile(edge.file, 'utf8')
    expect(JSON.parse(text)).toMatchObject({ mcpServers: { box: { description: 'Boxes', env: { SECRET_TOKEN: secret } } } })
  })

  test('masked arguments keep their values, and are refused when it is not certain which one is meant', async () => {
    const argsOf = async () =>
      (JSON.parse(await readFile(edge.file, 'utf8')) as { mcpServers: { spare: { args: string[] } } }).mcpServers.spare.args
    const at = '/upstreams/spare/settings'
    const { settings } = await api<ServerSettings>(at)
    expect(settings.args).toEqual(['--token', '***', '--password', '***'])
    const changed = { path: ['args'], value: ['--tokens', '***', '--password', '***'] }
    expect((await post(at, { changes: [changed] })).status).toBe(200)
    expect(await argsOf()).toEqual(['--tokens', 'first-secret', '--password', 'second-secret'])
    const removed = { path: ['args'], value: ['--password', '***'] }
    const { status, body } = await post<{ error: string }>(at, { changes: [removed] })
    expect([status, body.error]).toEqual([409, expect.stringContaining('Several masked values')])
    expect(await argsOf()).toHaveLength(4)
  })

  test('only an administrator can write, and an invalid edit is refused with the reason', async () => {
    const changes = [{ path: ['timeoutMs'], value: 5_000 }]
    expect((await post(path, { changes }, operator.token)).status).toBe(403)
    const { status, body } = await post<{ error: string }>(path, { changes: [{ path: ['timeotMs'], value: 5_000 }] })
    expect([status, body.error]).toEqual([409, expect.stringContaining('Did you mean "timeoutMs"')])
    expect((await post(path, { changes: [{ path: ['args', '0'], value: 'x' }] })).status).toBe(400)
  })

  test('a dry run writes nothing; an edit that starts something else waits for approval', async () => {
    const changes = [{ path: ['args'], value: ['other.mjs'] }]
    const before = await readFile(edge.file, 'utf8')
    expect((await post<SettingsResult>(path, { changes, dryRun: true })).body).toMatchObject({
      needsApproval: true,
      isWritten: false,
    })
    expect(await readFile(edge.file, 'utf8')).toBe(before)
    const running = edge.gateway.upstreams.get('box')?.config
    expect((await post<SettingsResult>(path, { changes })).body).toMatchObject({ needsApproval: true, isWritten: true })
    expect(edge.gateway.upstreams.get('box')?.config).toEqual(running)
    const edits = await api<readonly ConfigEdit[]>('/edits')
    expect(edits).toMatchObject([{ path: 'mcpServers.box', isRejected: false }])
    await post('/edits', { reject: edits.map(({ digest }) => digest) })
  })
})

test('AT-UI-24 (X24): the history of a tool list shows what changed in a definition', async () => {
  const changesOf = async () => (await api<readonly ListChange[]>('/history?upstream=box')).flatMap(({ changes }) => changes)
  await call('box__put', operator.token, { name: 'fresh', description: 'The first text' })
  await until(async () => (await changesOf()).some(({ tool, kind }) => tool === 'fresh' && kind === 'added'), 'it was added')
  await call('box__put', operator.token, { name: 'fresh', description: 'The second text' })
  await until(async () => (await changesOf()).some(({ kind }) => kind === 'changed'), 'it was changed')
  expect((await changesOf()).at(-1)).toMatchObject({
    tool: 'fresh',
    differences: [{ path: 'description', before: 'The first text', after: 'The second text' }],
  })
})

test('AT-UI-29 (X29): the parts of a call are recorded: the question about it, the answer, and the request that repeats it', async () => {
  const asking = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } }
  const first = (await messageOf(await call('box__remove', operator.token, { name: 'nothing' }, { _meta: asking }))) as {
    readonly result: { readonly resultType: string; readonly requestState: string }
  }
  expect(first.result.resultType).toBe('input_required')
  const [approval] = await api<readonly ApprovalReport[]>('/approvals')
  await post('/approvals', { id: approval?.id, decision: 'once' })
  const { requestState } = first.result
  const second = await call('box__remove', operator.token, { name: 'nothing' }, { _meta: asking, requestState })
  expect(await messageOf(second)).toMatchObject({ result: { content: [{ text: 'removed' }] } })
  const [asked, repeated] = (await api<readonly RecentCall[]>('/calls?upstream=box')).filter(({ tool }) => tool === 'remove')
  expect(asked?.steps).toMatchObject([{ step: 'approval_asked' }])
  expect(repeated?.steps).toMatchObject([{ step: 'approval_granted' }, { step: 'sent' }])
  expect(asked?.asked).toMatch(/^[0-9a-f]{16}$/u)
  expect(repeated?.continues).toBe(asked?.asked)
  expect(requestState).not.toContain(asked?.asked)
})
