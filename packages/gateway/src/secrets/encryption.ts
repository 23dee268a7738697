import { createCipheriv, createDecipheriv, createHash, randomBytes, scrypt } from 'node:crypto'
import { SecretError } from './error.ts'

// OWASP's parameters for scrypt with 64 MiB. They are fixed per version of the file: parameters read from it could be weakened, or
// chosen to exhaust memory.
const work = { N: 65_536, r: 8, p: 2, maxmem: 160 * 1024 * 1024 }
const algorithm = 'aes-256-gcm'
const keyBytes = 32
const ivBytes = 12
const tagBytes = 16

export const newSalt = (): string => randomBytes(16).toString('base64')

/** Derives keys from passphrases, each once. */
export class Keys {
  readonly #derived = new Map<string, Promise<Buffer>>()

  get(passphrase: string, salt: string): Promise<Buffer> {
    const id = createHash('sha256').update(`${salt}\0${passphrase}`).digest('base64')
    const known = this.#derived.get(id) ?? derive(passphrase, salt)
    this.#derived.set(id, known)
    return known
  }
}

const derive = (passphrase: string, salt: string): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    scrypt(passphrase.normalize('NFC'), Buffer.from(salt, 'base64'), keyBytes, work, (error, key) =>
      error === null ? resolve(key) : reject(error),
    )
  })

/** Encrypts a text. `context` must be the same for decryption, so that encrypted texts cannot be exchanged. */
export function encrypt(text: string, key: Buffer, context: string): string {
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv(algorithm, key, iv).setAAD(Buffer.from(context))
  return Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('base64')
}

/** Decrypts a text. Throws `SecretError` if key, context or data are wrong. */
export function decrypt(data: string, key: Buffer, context: string): string {
  const bytes = Buffer.from(data, 'base64')
  try {
    const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes })
    decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(bytes.length - tagBytes))
    return Buffer.concat([decipher.update(bytes.subarray(ivBytes, bytes.length - tagBytes)), decipher.final()]).toString('utf8')
  } catch (error) {
    throw new SecretError('cannot be decrypted', { cause: error })
  }
}
