import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runs } from '../../../../../test/runs.ts'
import { accept, block, emptyRecord, type Item, setBaseline } from './record.ts'
import { sqliteTrustStore, TrustStoreError } from './sqlite-store.ts'

let folder: string
let files = 0

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'unfold-trust-'))
})

afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }))

const fresh = (): string => join(folder, `${files++}`, 'trust.db')
const tool = (name: string): Item => ({ kind: 'tool', name, definition: { name, description: `Does ${name}` } })

test('decisions are there after a restart', async () => {
  const file = fresh()
  {
    await using store = await sqliteTrustStore(file)
    expect(await store.load('git')).toEqual(emptyRecord)
    await store.update('git', (record) => setBaseline(accept(record, [tool('log'), tool('diff')], 'baseline', 1), ['prompt']))
    await store.update('git', (record) => block(record, [tool('diff')], 2))
  }
  await using store = await sqliteTrustStore(file)
  const { baseline, accepted, blocked } = await store.load('git')
  expect(baseline).toEqual(['tool', 'prompt'])
  expect(accepted).toMatchObject([{ name: 'log', by: 'baseline', at: 1, definition: tool('log').definition }])
  expect(blocked).toMatchObject([{ name: 'diff', at: 2 }])
  expect(await store.servers()).toEqual(['git'])
})

test('two processes that decide at the same time lose nothing, and notice each other', async () => {
  const file = fresh()
  await using one = await sqliteTrustStore(file)
  await using other = await sqliteTrustStore(file)
  const noticed = new Promise<void>((resolve) => void one.watch(resolve))
  const names = Array.from({ length: 20 }, (_, at) => `tool_${at}`)
  await Promise.all(
    names.map((name, at) => (at % 2 === 0 ? one : other).update('git', (record) => accept(record, [tool(name)], 'person', at))),
  )
  expect((await one.load('git')).accepted.map(({ name }) => name).sort()).toEqual(names.sort())
  await noticed
})

test.each([
  ['damaged', 'SQLite format 3\0 and then nothing of the kind'.repeat(500)],
  ['foreign', 'hello'.repeat(1_000)],
])('a %s file is an error and stays as it is', async (_what, contents) => {
  const file = join(folder, `${files++}.db`)
  await writeFile(file, contents)
  await expect(sqliteTrustStore(file)).rejects.toThrow(TrustStoreError)
  expect(await readFile(file, 'utf8')).toBe(contents)
})

test('no acknowledged decision is lost or invented when the process is killed', async () => {
  const file = fresh()
  await using reader = await sqliteTrustStore(file)
  let next = 1
  for (let round = 0; round < runs({ long: 200, sample: 8 }); round++) {
    const acknowledged = await killedAfter(file, next, 20 + ((round * 37) % 90))
    const { accepted, blocked } = await reader.load('server')
    const stored = new Set([...accepted, ...blocked].map(({ at }) => at))
    for (let number = 1; number <= acknowledged; number++) expect(stored).toContain(number)
    // The one after the last acknowledged decision may be on disk, but no other.
    expect(stored.size).toBeLessThanOrEqual(acknowledged + 1)
    for (const { at } of blocked) expect(at % 3).toBe(0)
    for (const { at } of accepted) expect(at % 3).not.toBe(0)
    next = stored.size + 1
  }
}, 1_800_000)

/** Lets a process decide for some time after its first decision, and kills it. Returns its last acknowledged decision. */
async function killedAfter(file: string, from: number, ms: number): Promise<number> {
  const program = fileURLToPath(new URL('../../../test/servers/decider.mjs', import.meta.url))
  const child = spawn(process.execPath, [program, file, String(from)], { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
  await once(child.stdout, 'data')
  await new Promise((resolve) => setTimeout(resolve, ms))
  child.kill('SIGKILL')
  await once(child, 'close')
  return Number(output.trimEnd().split('\n').at(-1))
}
