import { decodeUri } from '@unfold-mcp/core'
import { hasRedaction } from './marker.ts'

/**
 * Secrecy of a value by its name. `always`; `data`: only in data, because a sentence such as "session: started" uses the word too;
 * `long`: only in a URL, if the value is long enough.
 */
export type Secrecy = 'always' | 'data' | 'long' | 'no'

// Matched in a normalized name: `X-Api-Key` is `xapikey`.
const stems = new RegExp(
  [
    'password(?!less)|passwd|passphrase|passcode|passwort|kennwort|wachtwoord|motdepasse|contrase[nñ]|senha',
    'пароль|密码|密碼|パスワード|비밀번호',
    'secret(?!ar)|token(?!i[sz])|credential|authorization|csrf|xsrf|jwt|oauthverifier|codeverifier|clientassertion|saml(?:request|response)',
    '(?:api|access|private|secret|encryption|signing|master|account|auth|session|license|service)key',
    'sess(?:ion)?id|sessiontoken|securitycode|onetimecode|recoverycode|backupcode|verificationcode|confirmationcode',
    'cvv|cardnum|creditcard|debitcard|ccnum|socialsecurity|mnemonic|seedphrase|recoveryphrase|setcookie|connectionstring',
  ].join('|'),
)
const secretWords = new Set('pwd pass otp totp mfa pin cvc csc ssn iban'.split(' '))
const dataWords = new Set('session auth sid sig signature hmac cookie cookies bearer sess'.split(' '))
const longWords = new Set(['code', 'key'])

// A name with one of these suffixes describes the secret: `token_type`, `passwordChangedAt`, `max_token_count`.
const about = new Set(
  (
    'type types count counts total length size limit expires expiry expiration ttl timeout duration lifetime required enabled ' +
    'disabled supported endpoint policy algorithm alg strength version status valid label placeholder error errors message help ' +
    'at in url uri name title description method methods format scheme header prefix consent attempts'
  ).split(' '),
)

const maxNameLength = 128
const maxKnown = 2_000
const known = new Map<string, Secrecy>()

/** Classifies a name in any spelling. */
export function secrecyOf(name: string): Secrecy {
  const short = name.length > maxNameLength ? name.slice(-maxNameLength) : name
  const before = known.get(short)
  if (before !== undefined) return before
  const secrecy = judged(short)
  // Bounded cache: names repeat, but a page may generate new ones endlessly.
  if (known.size >= maxKnown) known.clear()
  known.set(short, secrecy)
  return secrecy
}

/** Normalizes a name: lower case, without separators. */
export function normalizeName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9\u0080-\uffff]+/g, '')
}

function judged(name: string): Secrecy {
  // Part of the name was redacted; the rest could look like another name.
  if (hasRedaction(name)) return 'no'
  const words = unescaped(name)
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9\u0080-\uffff]+/)
    .filter((word) => word !== '')
  const last = words.at(-1)
  if (last === undefined) return 'no'
  if (words.length > 1 && about.has(last)) return 'no'
  if (stems.test(words.join('')) || words.some((word) => secretWords.has(word))) return 'always'
  if (words.some((word) => dataWords.has(word))) return 'data'
  return longWords.has(last) && words.length === 1 ? 'long' : 'no'
}

function unescaped(name: string): string {
  const plain = name.replace(/\\+u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
  return plain.includes('%') ? decodeUri(plain) : plain
}

const harmless = new Set(['', 'true', 'false', 'null', 'undefined', 'nan', 'none', 'nil'])

/** False for booleans and small numbers such as "max_tokens: 100". */
export function isSensitiveValue(name: string, value: string): boolean {
  if (harmless.has(value.toLowerCase())) return false
  return !(/^\d{1,7}$/.test(value) && /tokens$/i.test(name))
}

/** True for a value that may be a secret under an ambiguous name: a code, a key. */
export function isLong(value: string): boolean {
  return value.length >= 16 && /\d/.test(value) && /[A-Za-z]/.test(value) && !hasRedaction(value)
}
