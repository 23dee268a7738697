import { readdir, readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { requirements } from './requirements.ts'
import { waysOf } from './verifies.ts'

/** Every id that a scenario says it verifies, as often as it says so. */
async function verifiedIds(): Promise<readonly string[]> {
  const folder = new URL('./scenarios/', import.meta.url)
  const files = (await readdir(folder)).filter((name) => name.endsWith('.test.ts'))
  const sources = await Promise.all(files.map((name) => readFile(new URL(name, folder), 'utf8')))
  return sources.flatMap((source) => [...source.matchAll(/^verifies\(\s*'([^']+)'/gmu)].map(([, id]) => id ?? ''))
}

const ids: readonly string[] = requirements.map(({ id }) => id)
const twice = (names: readonly string[]) => names.filter((name, index) => names.indexOf(name) !== index)

test('every requirement is proven by a scenario', async () => {
  const verified = await verifiedIds()
  expect(ids.filter((id) => !verified.includes(id))).toEqual([])
})

test('every scenario proves a requirement, and no two the same one', async () => {
  const verified = await verifiedIds()
  expect(verified.filter((id) => !ids.includes(id))).toEqual([])
  expect(twice(verified)).toEqual([])
})

test('no two requirements share an id or a behaviour', () => {
  expect(twice(ids)).toEqual([])
  expect(twice(requirements.map(({ behaviour }) => behaviour))).toEqual([])
})

test('a requirement for every way is proven over both transports and in both eras', () => {
  const described = waysOf.every.map(({ transport, era }) => `${transport}, ${era}`)
  expect(described.toSorted()).toEqual(['http, session', 'http, stateless', 'stdio, session', 'stdio, stateless'])
  const reached = Object.entries(waysOf).map(([reach, ways]) => [reach, ways.length])
  expect(Object.fromEntries(reached)).toEqual({
    every: 4,
    session: 2,
    stateless: 2,
    http: 2,
    'http session': 1,
    'http stateless': 1,
    none: 0,
  })
})
