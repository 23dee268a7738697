import { randomBytes } from 'node:crypto'
import { StateCipher } from '@unfold-mcp/server'

const prefix = 'sealed.'

/**
 * Encrypts the `requestState` of servers, bound to the client and the request. Only gateways with the same secret can decrypt it;
 * the default is random.
 */
export class RequestStateCipher {
  readonly #cipher: StateCipher

  constructor(secret: Uint8Array = randomBytes(32)) {
    this.#cipher = new StateCipher(secret, 'request state')
  }

  encrypt(text: string, owner: string): string {
    return `${prefix}${this.#cipher.encrypt(Buffer.from(text), owner)}`
  }

  /** Returns the text; `undefined` if it was not encrypted with this secret for this owner. */
  decrypt(token: string, owner: string): string | undefined {
    return token.startsWith(prefix) ? this.#cipher.decrypt(token.slice(prefix.length), owner)?.toString('utf8') : undefined
  }
}
