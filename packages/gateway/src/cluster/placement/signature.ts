import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** What a signed request is for; covered by the signature with its time, nonce and body. */
export interface Signed {
  /** Fencing token of the holder that it is meant for. */
  readonly token: string
  readonly server: string
}

/** A request whose signature is valid. Its body must still be compared. */
export interface Verified extends Signed {
  readonly isBody: (body: Uint8Array) => boolean
}

export interface SignaturesOptions {
  readonly key: Uint8Array
  /** Milliseconds since 1970, by the same clock on all replicas. */
  readonly now: () => number
}

export const signatureHeader = 'unfold-signature'

const format = '1'
const windowMs = 30_000

/**
 * Signs requests between replicas and checks them. The signature is in one header that also has a digest of the body, so it is checked
 * before the body is read. A request is accepted once, within a short time.
 */
export class Signatures {
  readonly #key: Uint8Array
  readonly #now: () => number
  /** When a used nonce can be forgotten; in the order of use. */
  readonly #used = new Map<string, number>()

  constructor({ key, now }: SignaturesOptions) {
    this.#key = key
    this.#now = now
  }

  /** Value of the header for a request. */
  sign(path: string, { token, server }: Signed, body: string): string {
    const nonce = randomBytes(16).toString('hex')
    const parts = [format, `${Math.round(this.#now())}`, nonce, token, encodeURIComponent(server), digestOf(body)]
    return [...parts, this.#mac(path, parts).toString('hex')].join(' ')
  }

  /** Returns what a request is for; `undefined` if its signature is invalid, expired or was used before. */
  verify(path: string, header: string | undefined): Verified | undefined {
    const parts = (header ?? '').split(' ')
    const [version, time = '', nonce = '', token = '', server = '', digest = '', mac = ''] = parts
    if (parts.length !== 7 || version !== format || !/^\d{1,15}$/u.test(time) || !/^[0-9a-f]{64}$/u.test(mac)) return undefined
    if (!timingSafeEqual(Buffer.from(mac, 'hex'), this.#mac(path, parts.slice(0, -1)))) return undefined
    const now = this.#now()
    if (Math.abs(now - Number(time)) > windowMs || this.#used.has(nonce)) return undefined
    this.#remember(nonce, now)
    return { token, server: decodeURIComponent(server), isBody: (body) => digestOf(body) === digest }
  }

  // Only valid signatures are remembered, so that nobody else can fill the memory.
  #remember(nonce: string, now: number): void {
    for (const [old, until] of this.#used) {
      if (until > now) break
      this.#used.delete(old)
    }
    this.#used.set(nonce, now + 2 * windowMs)
  }

  #mac(path: string, parts: readonly string[]): Buffer {
    return createHmac('sha256', this.#key)
      .update(['POST', path, ...parts].join('\n'))
      .digest()
  }
}

const digestOf = (body: string | Uint8Array): string => createHash('sha256').update(body).digest('hex')
