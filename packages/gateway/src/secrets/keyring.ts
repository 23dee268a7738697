import type { AsyncEntry } from '@napi-rs/keyring'
import { errorMessage } from '../base/error-message.ts'
import { KeyringError } from './error.ts'

/** Keyring of the operating system. Methods throw `KeyringError` if it is not usable. */
export interface Keyring {
  get(name: string): Promise<string | undefined>
  set(name: string, value: string): Promise<void>
  remove(name: string): Promise<void>
}

// The user may have to unlock the keyring first.
const timeoutMs = 60_000

/** Keychain on macOS, Credential Manager on Windows, Secret Service on Linux. The library is loaded on first use. */
export function systemKeyring(service: string): Keyring {
  const entry = async (name: string): Promise<AsyncEntry> => {
    const library = await import('@napi-rs/keyring')
    // By default the library falls back to the kernel's keyring, which is lost when the machine restarts.
    return new library.AsyncEntry(service, name, { linux: { store: 'secret-service' } })
  }
  const using = async <T>(name: string, work: (each: AsyncEntry) => Promise<T>): Promise<T> => {
    try {
      return await withinTime(entry(name).then(work))
    } catch (error) {
      throw new KeyringError(`The system keyring is not usable: ${errorMessage(error)}`, { cause: error })
    }
  }
  return {
    get: (name) => using(name, async (each) => (await each.getPassword()) ?? undefined),
    set: (name, value) =>
      using(name, async (each) => {
        await each.setPassword(value)
        if ((await each.getPassword()) !== value) throw new Error('it did not store the value')
      }),
    remove: (name) => using(name, async (each) => void (await each.deletePassword())),
  }
}

async function withinTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no response; is it locked?')), timeoutMs)
  })
  try {
    return await Promise.race([work, timeout])
  } finally {
    clearTimeout(timer)
  }
}
