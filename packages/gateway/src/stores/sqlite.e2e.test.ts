import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { catalogContract, tool } from '../../test/catalog-contract.ts'
import { sqliteCatalog } from './sqlite.ts'

let folder: string
let files = 0

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'unfold-store-'))
})

afterAll(() => rm(folder, { recursive: true }))

const fresh = (): string => join(folder, `${files++}`, 'catalog.db')

/** A store with this file, and its reports. */
async function opened(file: string, busyTimeoutMs?: number) {
  const reports: string[] = []
  const store = await sqliteCatalog(file, {
    report: (message) => reports.push(message),
    ...(busyTimeoutMs !== undefined && { busyTimeoutMs }),
  })
  return { store, reports }
}

async function written(file: string): Promise<void> {
  const { store } = await opened(file)
  await store.replaceTools('git', [tool('log')], { instructions: 'About git' })
  await store.close()
}

/** The same in another process that has exited: in this one, a connection may stay open for a while after closing. */
async function writtenElsewhere(file: string, change: string): Promise<void> {
  const model = fresh()
  await written(model)
  await mkdir(join(file, '..'))
  await copyFile(model, file)
  await once(program(file, `db.exec(${JSON.stringify(change)}); db.exec('PRAGMA wal_checkpoint(TRUNCATE)')`), 'exit')
}

catalogContract('sqlite', async () => (await opened(fresh())).store)

/** Another process that runs this JavaScript with the database as `db`. */
function program(file: string, work: string): ChildProcess {
  const libsql = createRequire(import.meta.url).resolve('libsql')
  const code = `const Database = require(${JSON.stringify(libsql)}); const db = new Database(${JSON.stringify(file)}); ${work}`
  return spawn(process.execPath, ['-e', code], { stdio: ['pipe', 'pipe', 'inherit'] })
}

describe('a file', () => {
  test('survives a restart', async () => {
    const file = fresh()
    await written(file)
    const { store, reports } = await opened(file)
    expect(await store.load('git')).toEqual({ tools: [tool('log')], instructions: 'About git' })
    await store.close()
    expect(reports).toEqual([])
  })

  test.skipIf(process.platform === 'win32')('is readable by its owner only', async () => {
    const file = fresh()
    await written(file)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
  })

  test('keeps written data when the process is killed', async () => {
    const file = fresh()
    await written(file)
    const definition = JSON.stringify(JSON.stringify(tool('kept')))
    const child = program(
      file,
      `db.prepare('INSERT INTO tools VALUES (?, ?, ?)').run(['"git"', 1, ${definition}]); console.log('done'); setInterval(() => {}, 1000)`,
    )
    if (child.stdout !== null) await once(child.stdout, 'data')
    child.kill('SIGKILL')
    await once(child, 'exit')
    const { store } = await opened(file)
    expect((await store.tools('git')).map(({ name }) => name)).toEqual(['log', 'kept'])
    await store.close()
  })

  test.each([
    ['is not a database', (bytes: Buffer) => Buffer.from('no database '.repeat(500), 'utf8').subarray(0, bytes.length)],
    ['is truncated', (bytes: Buffer) => bytes.subarray(0, 4_096)],
    [
      'is overwritten in the middle',
      (bytes: Buffer) => Buffer.concat([bytes.subarray(0, 4_096), Buffer.alloc(bytes.length - 4_096, 0x41)]),
    ],
  ])('that %s is moved aside, and a new one is created', async (_what, damage) => {
    const file = fresh()
    await written(file)
    const bytes = damage(await readFile(file))
    await writeFile(file, bytes)
    const { store, reports } = await opened(file)
    expect(await store.load('git')).toBeUndefined()
    await store.replaceTools('git', [tool('add')])
    expect(await store.tools('git')).toEqual([tool('add')])
    await store.close()
    expect(reports).toHaveLength(1)
    expect(reports[0]).toContain('It was moved to')
    const [aside] = (await readdir(join(file, '..'))).filter((name) => name.endsWith('.aside'))
    expect(await readFile(join(file, '..', aside ?? ''))).toEqual(bytes)
    const again = await opened(file)
    expect(await again.store.tools('git')).toEqual([tool('add')])
    await again.store.close()
    expect(again.reports).toEqual([])
  })

  test('of a newer version is moved aside, and a new one is created', async () => {
    const file = fresh()
    await writtenElsewhere(file, 'PRAGMA user_version = 99')
    const { store, reports } = await opened(file)
    expect(await store.upstreams()).toEqual([])
    await store.close()
    expect(reports).toHaveLength(1)
    expect(reports[0]).toContain('was written by a newer version (format 99; supported: 1). It was moved to')
  })

  test('of another program is not changed', async () => {
    const file = fresh()
    await writtenElsewhere(file, 'PRAGMA application_id = 7')
    const before = await readFile(file)
    const { store, reports } = await opened(file)
    await store.replaceTools('git', [tool('mine')])
    expect(await store.tools('git')).toEqual([tool('mine')])
    await store.close()
    expect(await readFile(file)).toEqual(before)
    expect(reports).toEqual([
      `${file} is not an unfold catalog. It stays unchanged and the catalog is kept in memory. Set another "store.path".`,
    ])
  })

  test('of a newer version that is in use stays unchanged, and the catalog is kept in memory', async () => {
    const file = fresh()
    await written(file)
    const child = program(
      file,
      `db.exec('PRAGMA user_version = 99'); console.log('open'); process.stdin.on('end', () => process.exit()).resume()`,
    )
    if (child.stdout !== null) await once(child.stdout, 'data')
    const { store, reports } = await opened(file)
    await store.replaceTools('git', [tool('mine')])
    expect(await store.tools('git')).toEqual([tool('mine')])
    await store.close()
    child.stdin?.end()
    await once(child, 'exit')
    expect(reports).toHaveLength(1)
    expect(reports[0]).toContain('is in use by another process. It stays unchanged and the catalog is kept in memory')
    const db = new Database(file)
    expect(db.prepare('SELECT count(*) AS count FROM tools').all([])).toEqual([{ count: 1 }])
    db.close()
  })

  test('with an invalid tool returns the others and reports it', async () => {
    const file = fresh()
    await written(file)
    const db = new Database(file)
    const insert = db.prepare('INSERT INTO tools VALUES (?, ?, ?)')
    for (const [index, text] of ['{"name":', '{"name":5}', 'null', JSON.stringify(tool('add'))].entries())
      insert.run(['"git"', index + 1, text])
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    db.close()
    const { store, reports } = await opened(file)
    expect((await store.tools('git')).map(({ name }) => name)).toEqual(['log', 'add'])
    await store.close()
    expect(reports).toEqual([`${file}: a stored tool of "git" is invalid and is ignored until the server lists it again.`])
  })

  test('that cannot be created keeps the catalog in memory and reports it', async () => {
    const parent = join(folder, 'a-file')
    await writeFile(parent, '')
    const { store, reports } = await opened(join(parent, 'catalog.db'))
    await store.replaceTools('git', [tool('log')])
    expect(await store.tools('git')).toEqual([tool('log')])
    await store.close()
    expect(reports).toHaveLength(1)
    expect(reports[0]).toContain('The catalog is kept in memory')
  })
})

describe('two processes', () => {
  test('can share one file: both can write, and each reads what the other wrote', async () => {
    const file = fresh()
    await written(file)
    const child = program(
      file,
      `(async () => { for (let i = 0; i < 50; i++) { for (let again = 0; again < 500; again++) { try { db.exec("BEGIN IMMEDIATE; DELETE FROM tools WHERE upstream = '\\"other\\"'; INSERT OR REPLACE INTO upstreams VALUES ('\\"other\\"', NULL); COMMIT"); break } catch { await new Promise((done) => setTimeout(done, 5)) } } } console.log('done') })()`,
    )
    const ended = once(child, 'exit')
    const { store, reports } = await opened(file)
    for (let index = 0; index < 50; index++) await store.replaceTools('git', [tool(`t${index}`)])
    await ended
    expect(await store.upstreams()).toEqual(['git', 'other'])
    expect(await store.tools('git')).toEqual([tool('t49')])
    await store.close()
    expect(reports).toEqual([])
  })

  test('that start concurrently with a damaged file end up with one valid file', async () => {
    const file = fresh()
    await written(file)
    await writeFile(file, 'no database '.repeat(1_000))
    const stores = await Promise.all([opened(file), opened(file), opened(file)])
    for (const [index, { store }] of stores.entries()) await store.replaceTools(`u${index}`, [tool('x')])
    for (const { store } of stores) expect(await store.upstreams()).toEqual(['u0', 'u1', 'u2'])
    for (const { store } of stores) await store.close()
    expect((await readdir(join(file, '..'))).filter((name) => name.endsWith('.aside'))).toHaveLength(1)
    expect(stores.flatMap(({ reports }) => reports)).toHaveLength(1)
  })

  test('do not block each other: while one holds the lock, the other continues and reports the failed write', async () => {
    const file = fresh()
    await written(file)
    const child = program(
      file,
      `db.exec('BEGIN IMMEDIATE'); console.log('held'); process.stdin.on('end', () => process.exit()).resume()`,
    )
    if (child.stdout !== null) await once(child.stdout, 'data')
    const { store, reports } = await opened(file, 200)
    let turns = 0
    const timer = setInterval(() => turns++, 1)
    await store.replaceTools('git', [tool('add')])
    clearInterval(timer)
    expect(turns).toBeGreaterThan(1)
    expect(await store.tools('git')).toEqual([tool('log')])
    child.stdin?.end()
    await once(child, 'exit')
    await store.replaceTools('git', [tool('add')])
    expect(await store.tools('git')).toEqual([tool('add')])
    await store.close()
    expect(reports).toHaveLength(1)
    expect(reports[0]).toContain('catalog.db: database is locked')
  })
})

test('a closed store rejects with a clear error', async () => {
  const { store } = await opened(fresh())
  await store.close()
  await store.close()
  await expect(store.tools('git')).rejects.toThrow('The catalog is closed.')
})
