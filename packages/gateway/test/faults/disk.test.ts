import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { copyFile, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connect } from '@unfold-mcp/client'
import { expect, test } from 'vitest'
import { until } from '../../../client/test/processes.ts'
import { verifyChain } from '../../src/audit/verify.ts'
import { gatewayFolder } from '../gateway-file.ts'
import { server } from '../upstreams.ts'
import { type Commanded, commanded } from './command.ts'

const hasFull = existsSync('/dev/full')
// A small private file system that disappears with the process.
const ownDisk = (size: string, folder: string): readonly string[] => [
  'unshare',
  '--user',
  '--map-root-user',
  '--mount',
  'sh',
  '-c',
  `mount -t tmpfs -o size=${size} tmpfs "$0" && exec "$@"`,
  folder,
]
const hasOwnDisk = process.platform === 'linux' && spawnSync('unshare', [...ownDisk('64k', '/mnt').slice(1), 'true']).status === 0

const up = server('toolbox.mjs')

/** Records of calls. Every line must be complete. */
const callsIn = (text: string): readonly object[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { readonly type: string })
    .filter(({ type }) => type === 'call')

async function clientOf(gateway: Commanded) {
  const client = await connect({ url: gateway.url })
  await until(async () => (await client.refresh()).some(({ name }) => name === 'up__pid'), 'its tools')
  return client
}

const cases = [
  { onFailure: 'serve', answer: /"text":"\d+"/u, outcomes: ['ok', 'ok'] },
  {
    onFailure: 'refuse',
    answer: /was not called: the audit log cannot be written/u,
    outcomes: ['called', 'refused', 'called', 'ok'],
  },
]

test.skipIf(!hasFull).each(cases)(
  'AT-I106: with a full disk, audit onFailure "$onFailure" applies and is reported, and writing resumes when there is space',
  async ({ onFailure, answer, outcomes }) => {
    await using folder = await gatewayFolder()
    const path = join(folder.path, 'audit.jsonl')
    await symlink('/dev/full', path)
    await using gateway = await commanded({ exposure: 'everything', audit: { path, onFailure }, mcpServers: { up } })
    await using client = await clientOf(gateway)
    const first = await client.call('up__pid')
    expect(JSON.stringify(first.content)).toMatch(answer)
    // Everything except calls continues.
    expect((await client.refresh()).length).toBeGreaterThan(1)
    await until(
      async () => JSON.stringify(await gateway.readiness()) === '{"status":"degraded","degraded":["audit"]}',
      'it is reported',
    )
    expect((await gateway.status()).degraded).toEqual([
      { part: 'audit', problem: expect.stringMatching(/^cannot write .*audit\.jsonl: ENOSPC.*free disk space/u) },
    ])
    expect((await gateway.at.unfold(['status'])).stdout).toContain('degraded: audit: ')
    await rm(path)
    expect((await client.call('up__pid')).isError).not.toBe(true)
    await until(async () => JSON.stringify(await gateway.readiness()) === '{"status":"ready"}', 'it has recovered')
    // Lines that could not be written before are written now, each complete.
    await until(async () => callsIn(await readFile(path, 'utf8')).length === outcomes.length, 'everything is written')
    expect(callsIn(await readFile(path, 'utf8'))).toEqual(
      outcomes.map((outcome) => expect.objectContaining({ at: expect.any(String), upstream: 'up', tool: 'pid', outcome })),
    )
    // What was queued has its place in the chain.
    expect(await gateway.at.unfold(['audit', 'verify'])).toMatchObject({ code: 0, stdout: expect.stringContaining('intact') })
  },
)

test.skipIf(!hasOwnDisk)(
  'AT-S09-5: a disk that fills up in the middle of a record leaves no broken line in the audit log',
  async () => {
    await using folder = await gatewayFolder()
    await using copies = await gatewayFolder()
    const path = join(folder.path, 'audit.jsonl')
    const audit = { path, arguments: 'full' }
    await using gateway = await commanded(
      { exposure: 'everything', audit, store: { kind: 'memory' }, mcpServers: { up } },
      { before: ownDisk('64k', folder.path) },
    )
    await using client = await clientOf(gateway)
    // The disk as the gateway sees it.
    const inside = join('/proc', String(gateway.pid), 'root', folder.path)
    const filler = join(inside, 'filler')
    await expect(writeFile(filler, Buffer.alloc(1_048_576))).rejects.toThrow('ENOSPC')
    for (let call = 0; call < 12; call++)
      expect((await client.call('up__put', { name: 'x', description: `${call}`.repeat(1_500) })).isError).not.toBe(true)
    await until(async () => JSON.stringify(await gateway.readiness()).includes('audit'), 'the audit log is degraded')
    await rm(filler)
    await until(async () => JSON.stringify(await gateway.readiness()) === '{"status":"ready"}', 'the audit log works again')
    const copy = join(copies.path, 'audit.jsonl')
    for (const end of ['', '.head']) await copyFile(`${join(inside, 'audit.jsonl')}${end}`, `${copy}${end}`)
    expect(callsIn(await readFile(copy, 'utf8'))).toHaveLength(12)
    const { problem, notes } = await verifyChain(copy)
    expect({ problem, notes }).toEqual({ notes: [] })
  },
)

test.skipIf(!hasFull)('AT-I106: with a full disk for its log, it keeps serving, reports it, and exits cleanly', async () => {
  const full = openSync('/dev/full', 'w')
  try {
    await using gateway = await commanded({ exposure: 'everything', mcpServers: { up } }, { stderr: full })
    await using client = await clientOf(gateway)
    // Each call is logged, and each line fails. A call during startup is not logged: the startup summary shows the servers instead.
    await until(async () => {
      expect((await client.call('up__pid')).isError).not.toBe(true)
      return (await gateway.status()).degraded.some(({ part }) => part === 'log')
    }, 'it is reported')
    gateway.child.kill('SIGTERM')
    await until(() => gateway.child.exitCode !== null, 'it exits')
    expect(gateway.child.exitCode).toBe(0)
  } finally {
    closeSync(full)
  }
})

test.skipIf(!hasOwnDisk)(
  'AT-I106: with a full disk for its store, it serves from memory, reports it, and saves everything when there is space',
  async () => {
    await using folder = await gatewayFolder()
    const store = { kind: 'sqlite', path: join(folder.path, 'catalog.db') }
    await using gateway = await commanded(
      { exposure: 'everything', store, mcpServers: { up } },
      { before: ownDisk('512k', folder.path) },
    )
    await using client = await clientOf(gateway)
    // The disk as seen by the gateway.
    const inside = join('/proc', String(gateway.pid), 'root', folder.path)
    const filler = join(inside, 'filler')
    const names = async (): Promise<readonly string[]> => (await client.refresh()).map(({ name }) => name)
    await until(() => existsSync(join(inside, 'catalog.db')), 'the store')
    await expect(writeFile(filler, Buffer.alloc(1_048_576))).rejects.toThrow('ENOSPC')
    const many = Array.from({ length: 12 }, (_, at) => `more_${at}`)
    for (const name of many) await client.call('up__put', { name, description: 'x'.repeat(2_000) })
    await until(async () => (await names()).includes(`up__${many.at(-1)}`), 'unsaved tools are served')
    await until(
      async () => JSON.stringify(await gateway.readiness()) === '{"status":"degraded","degraded":["store"]}',
      'it is reported',
    )
    const [part] = (await gateway.status()).degraded
    expect(part?.problem).toMatch(/^cannot write .*catalog\.db: .*full.*free disk space/u)
    expect((await client.call('up__pid')).isError).not.toBe(true)
    await rm(filler)
    await until(async () => JSON.stringify(await gateway.readiness()) === '{"status":"ready"}', 'everything is stored')
  },
)
