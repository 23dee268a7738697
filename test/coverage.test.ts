import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { requirements } from './requirements.ts'
import { transportSets } from './verifies.ts'

const scenarioFolders = ['./scenarios/', '../packages/cli/test/', '../packages/client/test/']

const attackFolders = [
  '../packages/gateway/test/',
  '../packages/cli/test/',
  '../packages/dashboard/test/',
  '../packages/server/src/operations/',
  '../packages/server/src/protocol/',
  '../packages/server/src/scripts/',
  '../packages/gateway/src/results/',
  './cluster/',
]

/** Returns the ids in `verifies()` calls of the scenarios and in titles of attack tests, with duplicates. */
async function verifiedIds(): Promise<readonly string[]> {
  return [
    ...(await Promise.all(scenarioFolders.map((folder) => idsIn(folder, /^verifies\(\s*'([^']+)'/gmu)))).flat(),
    ...(await Promise.all(attackFolders.map((folder) => idsIn(folder, /['`]AT-\S+ \(([A-Z]\d\d)\): /gu)))).flat(),
  ]
}

async function idsIn(path: string, pattern: RegExp): Promise<readonly string[]> {
  const folder = fileURLToPath(new URL(path, import.meta.url))
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.test.ts'))
  const sources = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')))
  return sources.flatMap((source) => [...source.matchAll(pattern)].map(([, id]) => id ?? ''))
}

const ids: readonly string[] = requirements.map(({ id }) => id)
const duplicates = (names: readonly string[]) => names.filter((name, index) => names.indexOf(name) !== index)

test('every requirement is verified by a scenario or an attack test', async () => {
  const verified = await verifiedIds()
  expect(ids.filter((id) => !verified.includes(id))).toEqual([])
})

test('every verified id exists and is verified only once', async () => {
  const verified = await verifiedIds()
  expect(verified.filter((id) => !ids.includes(id))).toEqual([])
  expect(duplicates(verified)).toEqual([])
})

test('no two requirements share an id or a behaviour', () => {
  expect(duplicates(ids)).toEqual([])
  expect(duplicates(requirements.map(({ behaviour }) => behaviour))).toEqual([])
})

test('`every` covers both transports and both eras', () => {
  const described = transportSets.every.map(({ transport, era }) => `${transport}, ${era}`)
  expect(described.toSorted()).toEqual(['http, session', 'http, stateless', 'stdio, session', 'stdio, stateless'])
  const sizes = Object.entries(transportSets).map(([name, transports]) => [name, transports.length])
  expect(Object.fromEntries(sizes)).toEqual({
    every: 4,
    session: 2,
    stateless: 2,
    http: 2,
    'http session': 1,
    'http stateless': 1,
    none: 0,
  })
})
