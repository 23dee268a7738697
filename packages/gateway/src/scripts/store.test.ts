import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryScriptStore } from '@unfold-mcp/server'
import { afterAll, expect, test } from 'vitest'
import { scriptStoreContract } from '../../test/script-store-contract.ts'
import { sqliteScriptStorage } from './sqlite-store.ts'
import type { ScriptStorage } from './storage.ts'

const opened: ScriptStorage[] = []
const folders: string[] = []

async function file(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'unfold-scripts-'))
  folders.push(folder)
  return join(folder, 'scripts.db')
}

async function open(path: string): Promise<ScriptStorage> {
  const storage = await sqliteScriptStorage(path)
  opened.push(storage)
  return storage
}

afterAll(async () => {
  for (const storage of opened) await storage[Symbol.asyncDispose]()
  for (const folder of folders) await rm(folder, { recursive: true })
})

scriptStoreContract('memory', async () => {
  const store = memoryScriptStore()
  return [store, store]
})

scriptStoreContract('SQLite', async () => {
  const path = await file()
  return [(await open(path)).store, (await open(path)).store]
})

test('the secret is the same for every process with the file', async () => {
  const path = await file()
  const [first, second] = [await open(path), await open(path)]
  expect(first.secret).toHaveLength(32)
  expect(second.secret).toEqual(first.secret)
  expect((await open(await file())).secret).not.toEqual(first.secret)
})
