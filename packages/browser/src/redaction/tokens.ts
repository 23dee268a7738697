import { marker, type OnRedacted } from './marker.ts'

interface Shape {
  readonly rule: string
  /**
   * A prefix followed by as many characters as possible, with nothing required after it, so that matching is linear.
   */
  readonly pattern: RegExp
  /** Minimum length. A shorter match counts only at the end of a truncated text. */
  readonly min: number
  /** Prefix that stays visible. */
  readonly lead?: RegExp
  /** Additional condition. */
  readonly isOne?: (secret: string) => boolean
}

const hasDigit = (secret: string): boolean => /\d/.test(secret)

const shapes: readonly Shape[] = [
  { rule: 'jwt', pattern: /eyJ[\w-]{5,}(?:\.[\w-]+)*/g, min: 20, isOne: (secret) => secret.includes('.') },
  {
    rule: 'bearer',
    pattern: /\bbearer(?:[ \t+]|%20){1,8}[\w.~+/=-]{6,}/gi,
    min: 13,
    lead: /^bearer(?:[ \t+]|%20){1,8}/i,
    // Excludes "Bearer authentication".
    isOne: (secret) => hasDigit(secret) || secret.length >= 20,
  },
  {
    rule: 'basic',
    pattern: /\bbasic(?:[ \t+]|%20){1,8}[\w+/-]{6,}={0,2}/gi,
    min: 12,
    lead: /^basic(?:[ \t+]|%20){1,8}/i,
    isOne: isUserAndPassword,
  },
  { rule: 'github', pattern: /gh[pousr]_[A-Za-z0-9]{6,}/g, min: 24 },
  { rule: 'github', pattern: /github_pat_\w{6,}/g, min: 30 },
  { rule: 'gitlab', pattern: /gl(?:pat|soat|dt|rt|cbt|ptt|ft|imt|agent)-[\w-]{6,}/g, min: 20 },
  { rule: 'slack', pattern: /xox[a-z]-[\w-]{6,}/g, min: 15, isOne: hasDigit },
  { rule: 'slack', pattern: /xapp-\d-[\w-]{6,}/g, min: 15 },
  { rule: 'slack', pattern: /hooks\.slack\.com\/services\/[\w/]{6,}/g, min: 40, lead: /^hooks\.slack\.com\/services\// },
  { rule: 'stripe', pattern: /(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{6,}/g, min: 18 },
  { rule: 'stripe', pattern: /whsec_[A-Za-z0-9+/=]{6,}/g, min: 22 },
  { rule: 'aws', pattern: /(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{6,}/g, min: 20 },
  { rule: 'google', pattern: /AIza[\w-]{6,}/g, min: 39 },
  { rule: 'google', pattern: /ya29\.[\w-]{6,}/g, min: 25 },
  { rule: 'google', pattern: /GOCSPX-[\w-]{6,}/g, min: 30 },
  // Words such as "task-force-…" contain these letters, hence the condition before them.
  { rule: 'model', pattern: /(?<![A-Za-z0-9_]|[A-Za-z0-9]-)sk-[\w-]{6,}/g, min: 23, isOne: hasDigit },
  // After an escaped line break.
  { rule: 'model', pattern: /(?<=\\[nrt])sk-[\w-]{6,}/g, min: 23, isOne: hasDigit },
  { rule: 'npm', pattern: /npm_[A-Za-z0-9]{6,}/g, min: 36 },
  { rule: 'pypi', pattern: /pypi-[\w-]{6,}/g, min: 50 },
  { rule: 'huggingface', pattern: /hf_[A-Za-z0-9]{6,}/g, min: 33 },
  { rule: 'sendgrid', pattern: /SG\.[\w-]{6,}(?:\.[\w-]+)*/g, min: 60 },
  { rule: 'shopify', pattern: /shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{6,}/g, min: 30 },
  { rule: 'digitalocean', pattern: /do[opr]_v1_[a-f0-9]{6,}/g, min: 50 },
  { rule: 'vault', pattern: /hv[sbr]\.[\w-]{6,}/g, min: 28 },
  { rule: 'telegram', pattern: /\d{8,10}:AA[\w-]{6,}/g, min: 43 },
]

// Quick pre-check: most texts contain none.
const beginnings =
  /eyJ|bearer|basic|gh[pousr]_|github_pat_|gl(?:pat|soat|dt|rt|cbt|ptt|ft|imt|agent)-|xox|xapp-|hooks\.slack|[sr]k_|whsec_|A(?:KIA|SIA|BIA|CCA|Iza)|ya29|GOCSPX|sk-|npm_|pypi-|hf_|SG\.|shp[acps]|do[opr]_v|hv[sbr]\.|\d:AA/i

/** Redacts well-known token formats. */
export function redactTokens(text: string, onRedacted: OnRedacted, isCut = false): string {
  if (!beginnings.test(text)) return text
  let clean = text
  for (const { rule, pattern, min, lead, isOne } of shapes) {
    const { length } = clean
    clean = clean.replace(pattern, (match, offset: number) => {
      if (match.length < min && !(isCut && offset + match.length === length)) return match
      const kept = lead?.exec(match)?.[0] ?? ''
      if (isOne?.(match.slice(kept.length)) === false) return match
      onRedacted(rule)
      return kept + marker
    })
  }
  return clean
}

function isUserAndPassword(secret: string): boolean {
  return /^[\x20-\x7e]*:[\x20-\x7e\x80-\xff]*$/.test(Buffer.from(secret, 'base64').toString('latin1'))
}

const keyStart = '-----BEGIN '
const keyEnd = /-----END [A-Z0-9 ]{1,40}-----/y
// Characters of a key, also with escaped line breaks.
const keyText = /[\w+/=\s\\:,-]*/y

/** Redacts private keys. One without an end marker is redacted as far as it can extend. */
export function redactPrivateKeys(text: string, onRedacted: OnRedacted): string {
  let clean = ''
  let kept = 0
  // Cached, so that many begin markers do not rescan the text.
  let endsAt = -2
  for (let at = text.indexOf(keyStart); at !== -1; at = text.indexOf(keyStart, Math.max(kept, at + 1))) {
    if (!/^[A-Z0-9 ]{0,20}PRIVATE KEY/.test(text.slice(at + keyStart.length, at + keyStart.length + 50))) continue
    if (endsAt !== -1 && endsAt < at) endsAt = text.indexOf('-----END ', at)
    clean += text.slice(kept, at) + marker
    kept = endOfKey(text, at, endsAt)
    onRedacted('private_key')
  }
  return clean + text.slice(kept)
}

function endOfKey(text: string, at: number, endsAt: number): number {
  const body = endsAt === -1 ? text.slice(at) : text.slice(at, endsAt)
  keyText.lastIndex = 0
  const reach = at + (keyText.exec(body)?.[0].length ?? 0)
  if (reach !== endsAt) return reach
  keyEnd.lastIndex = endsAt
  return endsAt + (keyEnd.exec(text)?.[0].length ?? '-----END '.length)
}
