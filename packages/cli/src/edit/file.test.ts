import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
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
  await expect(writeEdit(plan)).rejects.toThrow(`${file} was not changed. Invalid JSON.`)
  expect(await readFile(file, 'utf8')).toBe('{"a": ')
  await writeFile(file, Buffer.from([0x7b, 0xff, 0x7d]))
  await expect(planEdit(file, setJson(['unfold'], true))).rejects.toThrow('UTF-8')
  expect(await readdir(folder)).toEqual(['settings.json'])
})
