import { execFileSync } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { EditError } from './edit.ts'
import { planEdit, writeEdit } from './file.ts'
import { jsonAt, setJson } from './json.ts'

let folder = ''

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'unfold-edit-'))
})

afterEach(() => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }))

test('changes by another program between plan and write are kept', async () => {
  const file = join(folder, 'settings.json')
  await writeFile(file, '{"a": 1}', { mode: 0o640 })
  const plan = await planEdit(file, setJson(['unfold'], true))
  await writeFile(file, '{"a": 1, "theirs": 2}')
  const { backup } = await writeEdit(plan)
  expect(jsonAt(await readFile(file, 'utf8'), [])).toEqual({ a: 1, theirs: 2, unfold: true })
  expect(await readFile(backup ?? '', 'utf8')).toBe('{"a": 1, "theirs": 2}')
  expect((await stat(file)).mode & 0o777).toBe(0o640)
  expect(await readdir(folder)).toEqual(['settings.json', 'settings.json.bak.1'])
})

test('each edit creates a numbered backup with the permissions of the file, and only the oldest beyond ten are deleted', async () => {
  const file = join(folder, 'settings.json')
  await writeFile(file, '{"at": 0}', { mode: 0o600 })
  await writeFile(join(folder, 'settings.json.bak.mine'), 'mine')
  for (let at = 1; at <= 12; at++) {
    const { backup } = await writeEdit(await planEdit(file, setJson(['at'], at)))
    expect(backup).toBe(`${file}.bak.${at}`)
    expect(await readFile(backup ?? '', 'utf8')).toBe(`{"at": ${at - 1}}`)
    expect((await stat(backup ?? '')).mode & 0o777).toBe(0o600)
  }
  const left = ['3', '4', '5', '6', '7', '8', '9', '10', '11', '12', 'mine'].map((end) => `settings.json.bak.${end}`)
  expect((await readdir(folder)).toSorted()).toEqual(['settings.json', ...left].toSorted())
})

test('a file that another program broke, or that is not UTF-8, is not changed', async () => {
  const file = join(folder, 'settings.json')
  await writeFile(file, '{}')
  const plan = await planEdit(file, setJson(['unfold'], true))
  await writeFile(file, '{"a": ')
  await expect(writeEdit(plan)).rejects.toThrow(
    `${file} was not changed. Invalid JSON at 1:7: value expected. Fix it, then try again.`,
  )
  expect(await readFile(file, 'utf8')).toBe('{"a": ')
  await writeFile(file, Buffer.from([0x7b, 0xff, 0x7d]))
  await expect(planEdit(file, setJson(['unfold'], true))).rejects.toThrow('UTF-8')
  expect(await readdir(folder)).toEqual(['settings.json'])
})

test('of many edits at once, none is lost', async () => {
  const file = join(folder, 'settings.json')
  await writeFile(file, '{}')
  const names = Array.from({ length: 24 }, (_, index) => `s${index}`)
  const plans = await Promise.all(names.map((name) => planEdit(file, setJson([name], true))))
  await Promise.all(plans.map(writeEdit))
  expect(Object.keys(jsonAt(await readFile(file, 'utf8'), []) as object).toSorted()).toEqual(names.toSorted())
  expect((await readdir(folder)).filter((name) => /lock|tmp/u.test(name))).toEqual([])
})

test.skipIf(process.platform === 'win32')('a named pipe is not changed', async () => {
  const file = join(folder, 'pipe.json')
  execFileSync('mkfifo', [file])
  await expect(planEdit(file, setJson(['a'], 1))).rejects.toThrow(
    `${file} was not changed. It is a named pipe, not a regular file.`,
  )
})

test('a folder in which nothing can be created is reported', async () => {
  const file = join(folder, 'settings.json')
  await writeFile(file, '{}')
  const plan = await planEdit(join(file, 'inside.json'), setJson(['a'], 1)).catch((error: unknown) => error)
  expect(plan).toEqual(new EditError(`${join(file, 'inside.json')} cannot be read (ENOTDIR).`))
  const missing = await planEdit(join(folder, 'none.json'), setJson(['a'], 1))
  await expect(writeEdit({ ...missing, file: join(file, 'inside.json') })).rejects.toThrow(
    /inside\.json was not changed \(\w+\)\. Check the permissions and the free space of its folder\.$/u,
  )
})
