import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Connection, connect } from '@unfold-mcp/client'
import { expect, test } from 'vitest'
import { runs } from '../../../../test/runs.ts'
import { until } from '../../../client/test/processes.ts'
import type { AuditRecord } from '../../src/audit/index.ts'
import { chainFiles } from '../../src/audit/index.ts'
import { verifyChain } from '../../src/audit/verify.ts'
import { gatewayFolder } from '../gateway-file.ts'
import { server } from '../upstreams.ts'
import { type Commanded, commanded } from './command.ts'

const secret = 'correct-horse-battery-staple'
const up = { ...server('toolbox.mjs'), env: { API_TOKEN: secret } }

async function clientOf(gateway: Commanded, path = ''): Promise<Connection> {
  const client = await connect({ url: `${gateway.url}${path}` })
  await until(async () => (await client.refresh()).some(({ name }) => name === 'up__pid'), 'its tools')
  return client
}

/** `unfold audit` with these flags. */
async function records(gateway: Commanded, ...flags: readonly string[]): Promise<readonly AuditRecord[]> {
  const { code, stdout, stderr } = await gateway.at.unfold(['audit', '--json', ...flags])
  if (code !== 0) throw new Error(stderr)
  return (JSON.parse(stdout) as { readonly records: readonly AuditRecord[] }).records
}

const failed = (call: Promise<unknown>): Promise<unknown> => call.catch((error: unknown) => error)

test('AT-S09-2: calls, rejections, tokens and configuration changes are recorded, without secrets', async () => {
  const profiles = { some: { tools: ['up__pid'] } }
  await using gateway = await commanded({
    exposure: 'everything',
    audit: { path: 'audit.jsonl', arguments: 'mask', tools: { 'up__p*': 'full', up__remove: 'omit' } },
    limits: { callsPerMinute: 8 },
    profiles,
    mcpServers: { up },
  })
  const file = join(gateway.at.folder, 'audit.jsonl')
  await using client = await clientOf(gateway)
  await client.call('up__pid', {}, { meta: { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` } })
  await client.call('up__put', { name: secret })
  await client.call('up__burst', { times: 1 })
  await failed(client.call('up__remove', { name: 'x' }))
  await failed(client.request('tools/call', { name: 'no_such_tool', arguments: { a: 1 } }))
  await using limited = await clientOf(gateway, '/some')
  await failed(limited.request('tools/call', { name: 'up__put', arguments: { name: 'x' } }))
  await failed(limited.request('tools/call', { name: 'call_tool', arguments: { name: 7 } }))
  for (let call = 0; call < 9; call++) await failed(client.request('tools/call', { name: 'up__pid', arguments: {} }))
  const { code } = await gateway.at.unfold(['token', 'add', 'alice', '--yes'])
  expect(code).toBe(0)
  await until(async () => (await readFile(file, 'utf8')).includes('"alice"'), 'the token is recorded')

  const all = await records(gateway)
  expect(all.map(({ seq }) => seq)).toEqual(all.map((_, index) => index + 1))
  expect(all[0]).toMatchObject({ type: 'file', previous: '0'.repeat(64) })
  expect(all[1]).toMatchObject({ type: 'start', servers: ['up'], tokens: [] })
  const calls = all.filter(({ type }) => type === 'call')
  const who = { client: 'anonymous', agent: expect.any(String), upstream: 'up', ms: expect.any(Number) }
  const digest = expect.stringMatching(/^[0-9a-f]{64}$/u)
  expect(calls.slice(0, 4)).toEqual([
    expect.objectContaining({
      ...who,
      tool: 'pid',
      outcome: 'ok',
      definitionDigest: digest,
      parent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
      argumentsDigest: digest,
      arguments: {},
    }),
    expect.objectContaining({ ...who, tool: 'put', outcome: 'ok', arguments: { name: '[secret]' } }),
    expect.objectContaining({ ...who, tool: 'burst', outcome: 'ok', arguments: { times: '[number]' } }),
    expect.objectContaining({ ...who, tool: 'remove' }),
  ])
  expect(calls[3]).not.toHaveProperty('argumentsDigest')
  const rejections = all.filter(({ type }) => type === 'rejection')
  expect(rejections.map(({ tool, outcome }) => [tool, outcome].join(' '))).toEqual(
    expect.arrayContaining(['no_such_tool unknown_tool', 'put unknown_tool', 'pid rate_limited']),
  )
  expect(rejections.find(({ tool }) => tool === 'put')).toMatchObject({
    client: 'anonymous/some',
    profile: 'some',
    upstream: 'up',
  })
  expect(all.filter(({ type }) => type === 'token')).toEqual([expect.objectContaining({ outcome: 'added', name: 'alice' })])

  expect(await readFile(file, 'utf8')).not.toContain(secret)
  expect((await records(gateway, '--outcome', 'rate_*')).every(({ outcome }) => outcome === 'rate_limited')).toBe(true)
  expect((await records(gateway, '--tool', 'put', '--type', 'call', '--client', 'anonymous')).length).toBe(1)
  expect(await records(gateway, '--server', 'other')).toEqual([])
  expect(await records(gateway, '--since', '2999-01-01')).toEqual([])
  expect((await records(gateway, '--limit', '2')).length).toBe(2)
  const { stdout } = await gateway.at.unfold(['audit', '--tool', 'burst'])
  expect(stdout).toMatch(/ call up\/burst ok \d+ ms \(anonymous\)/u)
})

test('AT-S09-3: unfold audit verify names the record, file and line that was altered or removed, and exits with code 1', async () => {
  await using gateway = await commanded({
    exposure: 'everything',
    trust: 'off',
    audit: { path: 'audit.jsonl' },
    mcpServers: { up },
  })
  const file = join(gateway.at.folder, 'audit.jsonl')
  const verify = () => gateway.at.unfold(['audit', 'verify'])
  await using client = await clientOf(gateway)
  for (let call = 0; call < 5; call++) await client.call('up__pid')
  expect(await verify()).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/ 7 records are intact \(1 to 7\)\. Last hash: [0-9a-f]{64}\n$/u),
  })
  const text = await readFile(file, 'utf8')
  const lines = text.split('\n')
  await writeFile(file, lines.with(3, (lines[3] ?? '').replace('"ok"', '"no"')).join('\n'))
  expect(await verify()).toMatchObject({ code: 1, stdout: expect.stringContaining(`${file}:4: record 4 is altered`) })
  await writeFile(file, lines.toSpliced(2, 1).join('\n'))
  expect(await verify()).toMatchObject({ code: 1, stdout: expect.stringContaining(`${file}:3: record 3 is missing`) })
  // Removed from the end: the head file and the running gateway both know better.
  await writeFile(file, lines.toSpliced(6, 1).join('\n'))
  expect(await verify()).toMatchObject({ code: 1, stdout: expect.stringContaining('record 7 is missing') })
  const head = await readFile(`${file}.head`, 'utf8')
  await writeFile(`${file}.head`, '')
  expect(await verify()).toMatchObject({ code: 1, stdout: expect.stringContaining('record 7 is missing') })
  await Promise.all([writeFile(file, text), writeFile(`${file}.head`, head)])
  const json = await gateway.at.unfold(['audit', 'verify', file, '--json'])
  expect(JSON.parse(json.stdout)).toMatchObject({ isIntact: true, chains: [{ path: file, records: 7 }] })
  expect(await gateway.at.unfold(['audit', 'verify', 'nothing.jsonl'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('does not exist'),
  })
})

test('AT-S09-4: the log is rotated while the gateway runs, and two gateways with one log have a chain each', async () => {
  await using folder = await gatewayFolder()
  const path = join(folder.path, 'audit.jsonl')
  const audit = { path, maxBytes: 2_048, keep: 2 }
  await using one = await commanded({ exposure: 'everything', trust: 'off', audit, mcpServers: { up } })
  await using two = await commanded({ exposure: 'everything', trust: 'off', audit, mcpServers: { up } })
  await using first = await clientOf(one)
  await using second = await clientOf(two)
  for (let call = 0; call < 30; call++) await Promise.all([first.call('up__pid'), second.call('up__pid')])
  const { code, stdout } = await one.at.unfold(['audit', 'verify'])
  expect(stdout).toMatch(
    /audit\.jsonl: \d+ records in 3 files are intact \([2-9]\d* to 3\d\)[\s\S]*audit-2\.jsonl: \d+ records in 3 files/u,
  )
  expect(code).toBe(0)
  const newest = await records(one, '--limit', '4', '--type', 'call')
  expect(newest.map(({ at }) => at)).toEqual(newest.map(({ at }) => at).toSorted())
})

test('unfold audit --follow shows records as they are written', async () => {
  await using gateway = await commanded({
    exposure: 'everything',
    trust: 'off',
    audit: { path: 'audit.jsonl', maxBytes: 1_024 },
    mcpServers: { up },
  })
  await using client = await clientOf(gateway)
  let child: { kill(signal: NodeJS.Signals): void; stdout(): string } | undefined
  const following = gateway.at.unfold(['audit', '--follow', '--json', '--type', 'call'], {
    meanwhile: (started) => (child = started),
  })
  const shown = (): readonly AuditRecord[] =>
    (child?.stdout() ?? '')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as AuditRecord)
  try {
    await client.call('up__pid')
    await until(() => child?.stdout().includes('"seq":3') === true, 'the first call')
    for (let call = 0; call < 12; call++) await client.call('up__pid')
    await until(() => shown().length >= 13, 'the calls, across rotations')
    expect(new Set(shown().map(({ seq }) => seq)).size).toBe(13)
  } finally {
    child?.kill('SIGINT')
  }
  expect((await following).code).toBe(130)
})

/** Deterministic numbers between 0 and 1. */
function* numbers(seed: number): Generator<number, never> {
  for (let state = seed; ; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    yield state / 2 ** 32
  }
}

const kills = runs({ long: 200, sample: 4 })

test(`AT-S09-6: after kill -9 at any moment the chain continues, and no acknowledged call is lost (${kills} times)`, async () => {
  await using folder = await gatewayFolder()
  const path = join(folder.path, 'audit.jsonl')
  const random = numbers(kills === 10 ? 9 : Date.now() % 1_000_000)
  const audit = { path, maxBytes: 8_192, keep: 10_000, onFailure: 'refuse', arguments: 'full' }
  const acknowledged: string[] = []
  for (let kill = 0; kill < kills; kill++) {
    await using gateway = await commanded({ exposure: 'everything', store: { kind: 'memory' }, audit, mcpServers: { up } })
    await using client = await clientOf(gateway)
    const exited = once(gateway.child, 'exit')
    const enough = acknowledged.length + 1 + Math.floor(random.next().value * 20)
    const worker = async (name: number): Promise<void> => {
      for (let call = 0; call < 40; call++) {
        const id = `${kill}-${name}-${call}`
        const result = await client.call('up__put', { name: 'x', description: id })
        if (result.isError !== true) acknowledged.push(id)
        if (acknowledged.length >= enough) gateway.child.kill('SIGKILL')
      }
    }
    await Promise.all([0, 1, 2, 3].map((name) => failed(worker(name))))
    gateway.child.kill('SIGKILL')
    await exited
    const { problem } = await verifyChain(path)
    expect(problem?.kind ?? 'incomplete').toBe('incomplete')
  }
  await using last = await commanded({ exposure: 'everything', audit, mcpServers: { up } })
  await until(async () => (await last.at.unfold(['audit', 'verify'])).code === 0, 'the chain is intact')
  const texts = await Promise.all((await chainFiles(path)).map((file) => readFile(file.path, 'utf8')))
  const written = texts.join('')
  expect(acknowledged.length).toBeGreaterThanOrEqual(kills)
  expect(acknowledged.filter((id) => !written.includes(`"description":"${id}"`))).toEqual([])
  // All in the first chain: a killed process does not keep its lock.
  expect((await chainFiles(join(folder.path, 'audit-2.jsonl'))).length).toBe(0)
})
