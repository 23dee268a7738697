import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const mark = 'sealed.'
const ivBytes = 12
const tagBytes = 16

/**
 * Closes texts of servers that clients carry, so that only the one they were given to can hand them back, for the same request.
 * What one gateway closed no other can open.
 */
export class StateCipher {
  readonly #key = randomBytes(32)

  close(text: string, whose: string): string {
    const iv = randomBytes(ivBytes)
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv, { authTagLength: tagBytes }).setAAD(Buffer.from(whose))
    const closed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    return `${mark}${Buffer.concat([iv, cipher.getAuthTag(), closed]).toString('base64url')}`
  }

  /** The text; `undefined` when it was not closed here, or for somebody or something else. */
  open(sealed: string, whose: string): string | undefined {
    if (!sealed.startsWith(mark)) return undefined
    const bytes = Buffer.from(sealed.slice(mark.length), 'base64url')
    if (bytes.length < ivBytes + tagBytes) return undefined
    try {
      const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes })
        .setAAD(Buffer.from(whose))
        .setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes))
      return Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]).toString('utf8')
    } catch {
      return undefined
    }
  }
}
