import { hasRedaction } from './marker.ts'

/**
 * Whether what has this name is a secret. `always`; or `data`: in data it is, while a sentence such as "session: started" has
 * the word too; or `long`: only in an address, when it is long enough for one.
 */
export type Secrecy = 'always' | 'data' | 'long' | 'no'

// Within a name that is written as one small word: `X-Api-Key` is `xapikey`.
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

// A name that ends in one of these speaks about the secret: `token_type`, `passwordChangedAt`, `max_token_count`.
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

/** Whether what has this name is a secret, whichever way the name is written. */
export function secrecyOf(name: string): Secrecy {
  const short = name.length > maxNameLength ? name.slice(-maxNameLength) : name
  const before = known.get(short)
  if (before !== undefined) return before
  const secrecy = judged(short)
  // Names repeat; a page that makes up new ones all the time must not fill the memory.
  if (known.size >= maxKnown) known.clear()
  known.set(short, secrecy)
  return secrecy
}

/** A name as one small word, without what people put between its parts. */
export function normalizeName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9\u0080-\uffff]+/g, '')
}

function judged(name: string): Secrecy {
  // What is left of a name of which a part was hidden could look like another.
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
  if (!plain.includes('%')) return plain
  try {
    return decodeURIComponent(plain)
  } catch {
    return plain
  }
}

const harmless = new Set(['', 'true', 'false', 'null', 'undefined', 'nan', 'none', 'nil'])

/** Whether a value of a secret's name is worth hiding: a flag tells nothing, and "max_tokens: 100" counts them. */
export function isSensitiveValue(name: string, value: string): boolean {
  if (harmless.has(value.toLowerCase())) return false
  return !(/^\d{1,7}$/.test(value) && /tokens$/i.test(name))
}

/** Whether a value could be a secret where the name could also stand for something else: a code, a key. */
export function isLong(value: string): boolean {
  return value.length >= 16 && /\d/.test(value) && /[A-Za-z]/.test(value) && !hasRedaction(value)
}
