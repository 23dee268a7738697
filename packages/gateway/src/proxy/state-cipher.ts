import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

const prefix = 'sealed.'
const saltBytes = 16
const ivBytes = 12
const tagBytes = 16
const headBytes = saltBytes + ivBytes + tagBytes

/**
 * Encrypts the `requestState` of servers, bound to the client and the request. Only gateways with the same secret can decrypt it;
 * the default is random.
 */
export class StateCipher {
  readonly #secret: Uint8Array
  // Each process encrypts with its own key, because random IVs of one key may repeat after billions of states.
  readonly #salt = randomBytes(saltBytes)
  readonly #key: Buffer

  constructor(secret: Uint8Array = randomBytes(32)) {
    this.#secret = secret
    this.#key = this.#keyFor(this.#salt)
  }

  encrypt(text: string, owner: string): string {
    const iv = randomBytes(ivBytes)
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv, { authTagLength: tagBytes }).setAAD(Buffer.from(owner))
    const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    return `${prefix}${Buffer.concat([this.#salt, iv, cipher.getAuthTag(), encrypted]).toString('base64url')}`
  }

  /** Returns the text; `undefined` if it was not encrypted with this secret for this owner. */
  decrypt(token: string, owner: string): string | undefined {
    if (!token.startsWith(prefix)) return undefined
    const bytes = Buffer.from(token.slice(prefix.length), 'base64url')
    if (bytes.length < headBytes) return undefined
    const salt = bytes.subarray(0, saltBytes)
    const iv = bytes.subarray(saltBytes, saltBytes + ivBytes)
    const tag = bytes.subarray(saltBytes + ivBytes, headBytes)
    try {
      const key = salt.equals(this.#salt) ? this.#key : this.#keyFor(salt)
      const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes })
        .setAAD(Buffer.from(owner))
        .setAuthTag(tag)
      return Buffer.concat([decipher.update(bytes.subarray(headBytes)), decipher.final()]).toString('utf8')
    } catch {
      return undefined
    }
  }

  #keyFor(salt: Uint8Array): Buffer {
    return Buffer.from(hkdfSync('sha256', this.#secret, salt, 'request state', 32))
  }
}
