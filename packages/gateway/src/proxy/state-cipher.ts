import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const prefix = 'sealed.'
const ivBytes = 12
const tagBytes = 16

/**
 * Encrypts the `requestState` of servers, bound to the client and the request. The key is random, so another gateway cannot decrypt
 * it.
 */
export class StateCipher {
  readonly #key = randomBytes(32)

  encrypt(text: string, owner: string): string {
    const iv = randomBytes(ivBytes)
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv, { authTagLength: tagBytes }).setAAD(Buffer.from(owner))
    const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    return `${prefix}${Buffer.concat([iv, cipher.getAuthTag(), encrypted]).toString('base64url')}`
  }

  /** Returns the text; `undefined` if it was not encrypted here for this owner. */
  decrypt(token: string, owner: string): string | undefined {
    if (!token.startsWith(prefix)) return undefined
    const bytes = Buffer.from(token.slice(prefix.length), 'base64url')
    if (bytes.length < ivBytes + tagBytes) return undefined
    try {
      const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes })
        .setAAD(Buffer.from(owner))
        .setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes))
      return Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]).toString('utf8')
    } catch {
      return undefined
    }
  }
}
