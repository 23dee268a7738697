import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

const saltBytes = 16
const ivBytes = 12
const tagBytes = 16
const headBytes = saltBytes + ivBytes + tagBytes

/** Encrypts state that travels with a client or is stored. Only processes with the same secret and purpose can decrypt it. */
export class StateCipher {
  readonly #secret: Uint8Array
  readonly #purpose: string
  // Each process encrypts with its own key, because random IVs of one key may repeat after billions of states.
  readonly #salt = randomBytes(saltBytes)
  readonly #key: Buffer

  constructor(secret: Uint8Array, purpose: string) {
    this.#secret = secret
    this.#purpose = purpose
    this.#key = this.#keyFor(this.#salt)
  }

  /** `binding`: everything that must be the same when it is decrypted. */
  encrypt(bytes: Uint8Array, binding: string): string {
    const iv = randomBytes(ivBytes)
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv, { authTagLength: tagBytes }).setAAD(Buffer.from(binding))
    const encrypted = Buffer.concat([cipher.update(bytes), cipher.final()])
    return Buffer.concat([this.#salt, iv, cipher.getAuthTag(), encrypted]).toString('base64url')
  }

  /** Returns `undefined` for text that was altered, or encrypted with another secret or binding. */
  decrypt(text: string, binding: string): Buffer | undefined {
    const bytes = Buffer.from(text, 'base64url')
    // Other text may decode to the same bytes.
    if (bytes.length < headBytes || bytes.toString('base64url') !== text) return undefined
    const salt = bytes.subarray(0, saltBytes)
    const iv = bytes.subarray(saltBytes, saltBytes + ivBytes)
    const tag = bytes.subarray(saltBytes + ivBytes, headBytes)
    try {
      const key = salt.equals(this.#salt) ? this.#key : this.#keyFor(salt)
      const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes })
        .setAAD(Buffer.from(binding))
        .setAuthTag(tag)
      return Buffer.concat([decipher.update(bytes.subarray(headBytes)), decipher.final()])
    } catch {
      return undefined
    }
  }

  #keyFor(salt: Uint8Array): Buffer {
    return Buffer.from(hkdfSync('sha256', this.#secret, salt, this.#purpose, 32))
  }
}
