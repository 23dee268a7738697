import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { KeyringError } from './error.ts'
import type { Keyring } from './keyring.ts'
import { SecretStore } from './store.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'unfold-secrets-'))
})
afterEach(() => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }))

const passphrase = async (): Promise<string> => 'correct horse'
const noPassphrase = (): Promise<string> => Promise.reject(new Error('asked for a passphrase'))

function memoryKeyring(): Keyring & { readonly values: Map<string, string> } {
  const values = new Map<string, string>()
  return {
    values,
    get: async (name) => values.get(name),
    set: async (name, value) => void values.set(name, value),
    remove: async (name) => void values.delete(name),
  }
}

const failing = (): Promise<never> => Promise.reject(new KeyringError('The system keyring is not usable: no bus'))
const noKeyring: Keyring = { get: failing, set: failing, remove: failing }

test('a usable keyring keeps the values, and the file only their names', async () => {
  const keyring = memoryKeyring()
  const store = new SecretStore(folder, { passphrase: noPassphrase, keyring })
  expect(await store.set('one', 'value-one')).toBe('keyring')
  expect(await store.get('one')).toBe('value-one')
  expect(await store.list()).toEqual([{ name: 'one', place: 'keyring' }])
  expect(await readFile(store.file, 'utf8')).not.toContain('value')
  await store.remove('one')
  expect(keyring.values.size).toBe(0)
  await expect(store.get('one')).rejects.toThrow('There is no secret "one". Store it: unfold secret set one')
})

test('without a usable keyring, the file keeps them encrypted, and a keyring must be named to fail', async () => {
  const store = new SecretStore(folder, { passphrase, keyring: noKeyring })
  expect(await store.set('one', 'value-one')).toBe('file')
  expect(await store.set('two', 'välue\ntwo')).toBe('file')
  expect([await store.get('one'), await store.get('two')]).toEqual(['value-one', 'välue\ntwo'])
  await expect(store.set('three', 'x', 'keyring')).rejects.toThrow('The system keyring is not usable: no bus')
  const other = new SecretStore(folder, { passphrase: async () => 'wrong', keyring: noKeyring })
  await expect(other.get('one')).rejects.toThrow(`The passphrase of ${store.file} is wrong.`)
  // A keyring that became usable later takes over the value.
  const keyring = memoryKeyring()
  expect(await new SecretStore(folder, { passphrase: noPassphrase, keyring }).set('one', 'value-new')).toBe('keyring')
  expect(keyring.values.get('one')).toBe('value-new')
  expect(await store.list()).toEqual([
    { name: 'one', place: 'keyring' },
    { name: 'two', place: 'file' },
  ])
  keyring.values.clear()
  await expect(new SecretStore(folder, { passphrase, keyring }).get('one')).rejects.toThrow('no longer in the system keyring')
})

test('AT-S13-8: encrypted values cannot be exchanged between names or altered', async () => {
  const store = new SecretStore(folder, { passphrase, keyring: noKeyring })
  await store.set('cheap', 'value-cheap')
  await store.set('dear', 'value-dear')
  const content = JSON.parse(await readFile(store.file, 'utf8'))
  const [cheap, dear] = content.secrets
  const secrets = [
    { ...cheap, data: dear.data },
    { ...dear, data: `${dear.data.slice(0, 20)}AAAA${dear.data.slice(24)}` },
  ]
  await writeFile(store.file, JSON.stringify({ ...content, secrets }), { mode: 0o600 })
  for (const name of ['cheap', 'dear'])
    await expect(store.get(name)).rejects.toThrow(`The value of "${name}" in ${store.file} is damaged. Store it again`)
})

test('invalid names and values are rejected before anything is written', async () => {
  const store = new SecretStore(folder, { passphrase: noPassphrase, keyring: noKeyring })
  for (const name of ['', '-x', 'a b', 'a}', '../x', 'x'.repeat(101)])
    await expect(store.set(name, 'value')).rejects.toThrow('is not a valid name')
  await expect(store.set('x', '')).rejects.toThrow('The value is empty.')
  await expect(store.set('x', 'a\0b')).rejects.toThrow('NUL')
  await expect(store.set('x', 'x'.repeat(70_000))).rejects.toThrow('longer than')
  await expect(readFile(store.file)).rejects.toThrow('ENOENT')
})
