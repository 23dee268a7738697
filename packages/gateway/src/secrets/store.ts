import { mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { LockError, withLock } from '@unfold-mcp/client/lock'
import { isRecord, nearest, nearestHint } from '@unfold-mcp/core'
import { FileKindError, readRegularFile, replaceFile } from '@unfold-mcp/core/files'
import { errorMessage } from '../base/error-message.ts'
import { decrypt, encrypt, Keys, newSalt } from './encryption.ts'
import { KeyringError, SecretError, WrongPassphraseError } from './error.ts'
import { type Keyring, systemKeyring } from './keyring.ts'

export type SecretPlace = 'keyring' | 'file'

/** Returns the passphrase of the encrypted file. `new`: the file does not have one yet. */
export type Passphrase = (state: 'new' | 'existing') => Promise<string>

export interface StoredSecret {
  readonly name: string
  readonly place: SecretPlace
}

export interface SecretStoreOptions {
  readonly passphrase: Passphrase
  /** Default: the keyring of the operating system. */
  readonly keyring?: Keyring
}

interface Entry extends StoredSecret {
  /** Encrypted value, if the place is the file. */
  readonly data?: string
}

interface Content {
  /** Missing until the file contains a value. */
  readonly salt?: string
  /** Encrypted constant; distinguishes a wrong passphrase from a damaged value. */
  readonly check?: string
  readonly entries: readonly Entry[]
}

const format = 'unfold-secrets'
const version = 1
const checkText = 'unfold'
const checkContext = `${format} ${version} check`
const contextOf = (name: string): string => `${format} ${version} secret\0${name}`

// Deriving a key takes seconds on a busy machine.
const locking = { staleMs: 120_000, timeoutMs: 180_000 }
const maxLength = 65_536

export const secretNamePattern = /^[A-Za-z0-9][\w.@/-]{0,99}$/u

/**
 * Secrets by name. `secrets.json` lists the names; the values are in the keyring of the operating system or, encrypted with a
 * passphrase, in the file itself.
 */
export class SecretStore {
  readonly file: string
  readonly #folder: string
  readonly #passphrase: Passphrase
  readonly #keyring: Keyring
  readonly #keys = new Keys()

  constructor(folder: string, { passphrase, keyring = systemKeyring(`unfold (${folder})`) }: SecretStoreOptions) {
    this.#folder = folder
    this.file = join(folder, 'secrets.json')
    this.#passphrase = passphrase
    this.#keyring = keyring
  }

  /** Names and places, sorted. Needs no passphrase. */
  async list(): Promise<readonly StoredSecret[]> {
    const { entries } = await this.#read()
    return entries.map(({ name, place }) => ({ name, place })).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  }

  async get(name: string): Promise<string> {
    const content = await this.#read()
    const entry = content.entries.find((each) => each.name === name)
    if (entry === undefined) throw unknownSecret(name, content.entries)
    if (entry.place === 'keyring') {
      const value = await this.#keyring.get(name)
      if (value === undefined)
        throw new SecretError(`"${name}" is no longer in the system keyring. Store it again: unfold secret set ${name}`)
      return value
    }
    const key = await this.#keyFor(content, await this.#passphrase('existing'))
    try {
      return decrypt(entry.data ?? '', key, contextOf(name))
    } catch (error) {
      const message = `The value of "${name}" in ${this.file} is damaged. Store it again: unfold secret set ${name}`
      throw new SecretError(message, { cause: error })
    }
  }

  /** Stores a value. Without `place`, in the keyring if it is usable, otherwise in the file. */
  async set(name: string, value: string, place?: SecretPlace): Promise<SecretPlace> {
    checkValue(name, value)
    // A damaged file is found before anything is changed.
    const { salt: existing } = await this.#read()
    if (place !== 'file') {
      try {
        await this.#keyring.set(name, value)
        await this.#update((content) => ({ ...content, entries: replaced(content, { name, place: 'keyring' }) }))
        return 'keyring'
      } catch (error) {
        if (place === 'keyring' || !(error instanceof KeyringError)) throw error
      }
    }
    // Outside the lock: a person may have to type it.
    const passphrase = await this.#passphrase(existing === undefined ? 'new' : 'existing')
    await this.#update(async (content) => {
      const salt = content.salt ?? newSalt()
      const key = await this.#keyFor({ ...content, salt }, passphrase)
      const check = content.check ?? encrypt(checkText, key, checkContext)
      const entry: Entry = { name, place: 'file', data: encrypt(value, key, contextOf(name)) }
      return { salt, check, entries: replaced(content, entry) }
    })
    return 'file'
  }

  async remove(name: string): Promise<void> {
    await this.#update(async (content) => {
      const entry = content.entries.find((each) => each.name === name)
      if (entry === undefined) throw unknownSecret(name, content.entries)
      if (entry.place === 'keyring') await this.#keyring.remove(name)
      return { ...content, entries: content.entries.filter((each) => each !== entry) }
    })
  }

  async #keyFor({ salt = '', check }: Content, passphrase: string): Promise<Buffer> {
    const key = await this.#keys.get(passphrase, salt)
    try {
      if (check !== undefined) decrypt(check, key, checkContext)
    } catch (error) {
      throw new WrongPassphraseError(`The passphrase of ${this.file} is wrong.`, { cause: error })
    }
    return key
  }

  async #update(change: (content: Content) => Content | Promise<Content>): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    try {
      await withLock(join(this.#folder, 'secrets.lock'), locking, async () => {
        const { salt, check, entries } = await change(await this.#read())
        await replaceFile(this.file, `${JSON.stringify({ format, version, salt, check, secrets: entries }, null, 2)}\n`)
      })
    } catch (error) {
      if (error instanceof LockError) throw new SecretError(`${error.message}.`)
      throw error
    }
  }

  async #read(): Promise<Content> {
    let text: string
    try {
      text = (await readRegularFile(this.file)).toString('utf8')
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return { entries: [] }
      const advice = error instanceof FileKindError ? 'Remove it.' : 'Check its permissions.'
      throw new SecretError(`${this.file} cannot be read: ${errorMessage(error)}. ${advice}`)
    }
    await this.#checkPermissions()
    const content = contentOf(text)
    // Replacing it would lose the other secrets.
    if (content === undefined)
      throw new SecretError(
        `${this.file} is damaged, or from a newer version. Restore it from a backup, or delete it and store the secrets again with "unfold secret set".`,
      )
    return content
  }

  async #checkPermissions(): Promise<void> {
    if (process.platform === 'win32') return
    const { mode, uid } = await stat(this.file)
    if (uid !== process.getuid?.()) throw new SecretError(`${this.file} belongs to another user. Remove it.`)
    if ((mode & 0o022) !== 0) throw new SecretError(`${this.file} is writable by other users. Run: chmod 600 ${this.file}`)
  }
}

function checkValue(name: string, value: string): void {
  if (!secretNamePattern.test(name))
    throw new SecretError(
      `"${name}" is not a valid name. Use up to 100 letters, digits and . _ - / @, starting with a letter or digit.`,
    )
  if (value === '') throw new SecretError('The value is empty.')
  if (value.length > maxLength) throw new SecretError(`The value is longer than ${maxLength} characters.`)
  if (value.includes('\0')) throw new SecretError('The value contains a NUL character.')
}

const replaced = ({ entries }: Content, entry: Entry): readonly Entry[] => [
  ...entries.filter(({ name }) => name !== entry.name),
  entry,
]

function unknownSecret(name: string, entries: readonly Entry[]): SecretError {
  const hint = nearestHint(
    nearest(
      name,
      entries.map((entry) => entry.name),
    ),
  )
  return new SecretError(`There is no secret "${name}".${hint} Store it: unfold secret set ${name}`)
}

function contentOf(text: string): Content | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isRecord(value) || value.format !== format || value.version !== version) return undefined
  const { salt, check, secrets } = value
  if (!Array.isArray(secrets) || !secrets.every(isEntry)) return undefined
  if (new Set(secrets.map(({ name }) => name)).size < secrets.length) return undefined
  if (salt === undefined && check === undefined && secrets.every(({ place }) => place === 'keyring')) return { entries: secrets }
  return typeof salt === 'string' && typeof check === 'string' ? { salt, check, entries: secrets } : undefined
}

function isEntry(value: unknown): value is Entry {
  if (!isRecord(value) || typeof value.name !== 'string' || !secretNamePattern.test(value.name)) return false
  return value.place === 'keyring' || (value.place === 'file' && typeof value.data === 'string')
}
