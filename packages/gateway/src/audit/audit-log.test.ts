import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { gatewayFolder } from '../../test/gateway-file.ts'
import { type Config, configSchema } from '../config/schema.ts'
import { Redactor } from '../observability/redactor.ts'
import { AuditLog } from './audit-log.ts'
import { hashLine } from './record.ts'
import { verifyChain } from './verify.ts'

const secret = 'sk-live-0123456789'

async function opened(folder: string, audit: object) {
  const path = join(folder, 'audit.jsonl')
  const config = configSchema.parse({ audit: { path, ...audit } })
  const redactor = new Redactor()
  redactor.add([secret])
  if (config.audit === undefined) throw new Error('There is an audit log.')
  const log = new AuditLog({ path, config: config.audit, redactor, onStatus: () => undefined })
  log.follow({
    of: (upstream, tool) => ({ upstream, tool, exposedName: `${upstream}__${tool}`, definitionDigest: `digest of ${tool}` }),
    exposed: () => undefined,
  })
  await log.open(config)
  const records = async (): Promise<readonly Record<string, unknown>[]> => {
    await log.close()
    expect((await verifyChain(path)).problem).toBeUndefined()
    const text = await readFile(path, 'utf8')
    expect(text).not.toContain(secret)
    return text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ type }) => !['file', 'start', 'stop'].includes(String(type)))
  }
  return { log, records }
}

const caller = { principal: undefined, scope: 'session:private-id', era: 'session', client: { name: 'editor' } } as const

test('arguments are omitted, hashed, masked or written in full, by tool, and known secrets are always removed', async () => {
  await using folder = await gatewayFolder()
  const tools = { a__hash: 'hash', 'a__m*': 'mask', a__full: 'full' }
  const { log, records } = await opened(folder.path, { tools })
  const input = { text: 'hello', n: 42, ok: true, key: secret, deep: [{ [secret]: null }] }
  for (const tool of ['other', 'hash', 'mask', 'full'])
    await log.call(caller, { upstream: 'a', tool, input, outcome: 'ok', call: '1' })
  await log.call(caller, { upstream: 'a', tool: 'full', input: { text: 'x'.repeat(100_000) }, outcome: 'ok', call: '2' })
  const [other, hashed, masked, full, large] = await records()
  const digest = hashLine(`{"deep":[{"${secret}":null}],"key":"${secret}","n":42,"ok":true,"text":"hello"}`)
  expect([other?.argumentsDigest, other?.arguments]).toEqual([undefined, undefined])
  expect([hashed?.argumentsDigest, hashed?.arguments]).toEqual([digest, undefined])
  expect([masked?.argumentsDigest, masked?.arguments]).toEqual([
    digest,
    { text: '[5 characters]', n: '[number]', ok: true, key: '[18 characters]', deep: [{ '[secret]': null }] },
  ])
  expect([full?.argumentsDigest, full?.arguments]).toEqual([
    digest,
    { text: 'hello', n: 42, ok: true, key: '[secret]', deep: [{ '[secret]': null }] },
  ])
  expect([large?.argumentsDigest, large?.arguments]).toEqual([expect.any(String), undefined])
  expect(other).toMatchObject({ client: 'anonymous', agent: 'editor', definitionDigest: 'digest of other' })
  expect(JSON.stringify(other)).not.toContain('private-id')
})

test('decisions and configuration changes are recorded by name, without values', async () => {
  await using folder = await gatewayFolder()
  const { log, records } = await opened(folder.path, {})
  const config = (value: object): Config => configSchema.parse(value)
  const token = (name: string, digit: string) => ({ name, hash: `sha256:${digit.repeat(64)}` })
  const before = config({
    mcpServers: { a: { command: 'a' }, b: { command: 'b' }, c: { command: 'c' } },
    tokens: [token('one', '1'), token('two', '2')],
  })
  const after = config({
    mcpServers: { a: { command: 'a' }, b: { command: 'b', env: { KEY: secret } }, d: { command: 'd' } },
    tokens: [token('two', '3'), token('three', '3')],
    results: { maxCharacters: 1_000 },
  })
  log.configApplied(before, after)
  log.configApplied(after, after)
  log.configRejected('invalid')
  await log.event({
    type: 'approval',
    outcome: 'approved',
    client: 'terminal',
    upstream: 'a',
    tool: 'x',
    reason: `key ${secret}`,
  })
  const found = (await records()).map(({ seq: _seq, at: _at, previous: _previous, ...rest }) => rest)
  expect(found).toEqual([
    { type: 'config', outcome: 'applied', added: ['d'], removed: ['c'], changed: ['b'], settings: ['results'] },
    { type: 'token', outcome: 'added', name: 'three' },
    { type: 'token', outcome: 'revoked', name: 'one' },
    { type: 'token', outcome: 'changed', name: 'two' },
    { type: 'config', outcome: 'invalid' },
    { type: 'approval', outcome: 'approved', client: 'terminal', upstream: 'a', tool: 'x', reason: 'key [secret]' },
  ])
})
