import type { Language } from './source.ts'

export const severities = ['high', 'medium', 'low'] as const

export interface Rule {
  readonly id: string
  readonly severity: (typeof severities)[number]
  /** Default: all languages. */
  readonly languages?: readonly Language[]
  /** Searched text: everything, without comments, or without comments and strings. */
  readonly within: 'text' | 'code' | 'bare'
  readonly pattern: RegExp
  /** Text that must occur for the rule to apply. */
  readonly when?: RegExp
  /** Returns whether a match is harmless. */
  readonly isFine?: (match: string) => boolean
  readonly advice: string
}

const script: readonly Language[] = ['javascript', 'typescript']
const python: readonly Language[] = ['python']

const sqlVerb = String.raw`(?:SELECT\s[^'"\n\x60]{0,200}\sFROM|INSERT\s+INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM)\b`
const sqlAdvice = 'Text from outside can change the query. Pass it as a parameter of a prepared statement.'
const secretAdvice = 'Whoever reads the source has it. Take it from the environment or a secret store, and replace this one.'
const isPlaceholder = (match: string): boolean =>
  /\$\{|process\.env|os\.environ|x{4}|\*{3}|change.?me|example|your[-_ ]|<[^>]*>/iu.test(match)

export const rules: readonly Rule[] = [
  {
    id: 'eval',
    severity: 'high',
    within: 'bare',
    pattern: /(?<![.\w$])eval\s*\(/gu,
    advice: 'It runs whatever text it gets. Parse the text instead, with JSON.parse or ast.literal_eval.',
  },
  {
    id: 'exec',
    severity: 'high',
    languages: python,
    within: 'bare',
    pattern: /(?<![.\w])exec\s*\(/gu,
    advice: 'It runs whatever text it gets. Call a function chosen from a table instead.',
  },
  {
    id: 'new-function',
    severity: 'high',
    languages: script,
    within: 'bare',
    pattern: /\bnew\s+Function\s*\(/gu,
    advice: 'It compiles whatever text it gets. Write the function, or choose one from a table.',
  },
  {
    id: 'text-as-timer',
    severity: 'medium',
    languages: script,
    within: 'bare',
    pattern: /\bset(?:Timeout|Interval)\s*\(\s*['"`]/gu,
    advice: 'A timer given text runs it like eval. Give it a function.',
  },
  {
    id: 'html-injection',
    severity: 'high',
    languages: script,
    within: 'bare',
    pattern:
      /\.(?:innerHTML|outerHTML)\s*\+?=(?!=)|\.insertAdjacentHTML\s*\(|\bdocument\.write(?:ln)?\s*\(|\bdangerouslySetInnerHTML\b/gu,
    advice: 'Text from outside becomes part of the page, scripts included. Use textContent, or clean it first.',
  },
  {
    id: 'shell-command',
    severity: 'high',
    languages: script,
    within: 'bare',
    when: /child_process/u,
    pattern: /(?<![.\w$])exec(?:Sync)?\s*\(|\b(?:child_process|cp)\.exec(?:Sync)?\s*\(|\bshell\s*:\s*true\b/gu,
    advice: 'A shell reads the whole line, quotes and semicolons included. Use execFile or spawn with a list of arguments.',
  },
  {
    id: 'shell-command',
    severity: 'high',
    languages: python,
    within: 'bare',
    pattern: /\bos\.(?:system|popen)\s*\(|\bshell\s*=\s*True\b/gu,
    advice: 'A shell reads the whole line, quotes and semicolons included. Use subprocess.run with a list of arguments.',
  },
  {
    id: 'unsafe-deserialization',
    severity: 'high',
    languages: python,
    within: 'code',
    pattern: /\b(?:pickle|marshal|dill)\.loads?\s*\(|\byaml\.load\s*\((?![^)\n]*Safe)/gu,
    advice: 'Loading such data can run code. Use JSON, or yaml.safe_load.',
  },
  {
    id: 'sql-concatenation',
    severity: 'high',
    languages: script,
    within: 'code',
    // A tagged template, such as sql`…`, passes its values as parameters.
    pattern: new RegExp(
      String.raw`(['"])\s*${sqlVerb}(?:(?!\1)[^\n]){0,500}\1\s*\+|(?<![\w$])\x60\s*${sqlVerb}[^\x60]{0,500}\$\{`,
      'giu',
    ),
    advice: sqlAdvice,
  },
  {
    id: 'sql-concatenation',
    severity: 'high',
    languages: python,
    within: 'code',
    pattern: new RegExp(
      String.raw`(['"])\s*${sqlVerb}(?:(?!\1)[^\n]){0,500}\1{1,3}\s*(?:\+|%|\.format\b)|\bf['"]{1,3}\s*${sqlVerb}[^"\n]{0,500}\{`,
      'giu',
    ),
    advice: sqlAdvice,
  },
  {
    id: 'known-key',
    severity: 'high',
    within: 'text',
    pattern: /\bAKIA[0-9A-Z]{16}\b|\bgh[opsur]_\w{36,255}\b|\bxox[abprs]-[\w-]{10,200}|-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----/gu,
    advice: secretAdvice,
  },
  {
    id: 'hard-coded-secret',
    severity: 'high',
    within: 'code',
    pattern: /(?:password|passwd|secret|api_?key|token|private_?key)\w{0,20}['"]?\s*[:=]\s*(['"`])[^'"`\n]{8,200}\1/giu,
    isFine: isPlaceholder,
    advice: secretAdvice,
  },
  {
    id: 'certificates-unchecked',
    severity: 'high',
    within: 'code',
    pattern: /\brejectUnauthorized\s*:\s*false\b|NODE_TLS_REJECT_UNAUTHORIZED|\bverify\s*=\s*False\b/gu,
    advice: 'Anyone on the network path can impersonate the server. Add its certificate authority instead.',
  },
  {
    id: 'weak-hash',
    severity: 'medium',
    within: 'code',
    pattern: /\bcreateHash\s*\(\s*['"](?:md5|sha1)['"]|\bhashlib\.(?:md5|sha1)\s*\(/giu,
    advice: 'Two texts with the same hash can be made. Use SHA-256; for passwords scrypt or argon2.',
  },
  {
    id: 'guessable-random',
    severity: 'medium',
    within: 'bare',
    pattern:
      /(?:token|secret|password|session|nonce)\w{0,30}\s*=[^\n;]{0,200}(?:Math\.random|\brandom\.(?:random|choice|randint))\b/giu,
    advice: 'It can be predicted. Use crypto.randomUUID, crypto.randomBytes or the secrets module.',
  },
  {
    id: 'unencrypted-address',
    severity: 'low',
    within: 'code',
    pattern: /['"`]http:\/\/(?!localhost|127\.|\[::1\])[\w.-]{1,200}/giu,
    advice: 'Anyone on the network path can read and change it. Use https.',
  },
]
