import type { Range } from '../observability/fingerprints.ts'

/** A secret in a text. */
export interface FoundSecret extends Range {
  /** Kind of secret, such as `GitHub token`. */
  readonly format: string
}

// Every pattern starts with fixed characters and has no nested repetition, so matching is linear.
const formats: Readonly<Record<string, string>> = {
  'GitHub token': 'gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}',
  'GitLab token': 'gl(?:pat|ptt|dt|rt|cbt|agent)-[A-Za-z0-9_-]{20,60}',
  'Slack token': String.raw`xox[abeoprs]-[A-Za-z0-9-]{10,250}|xapp-\d-[A-Za-z0-9-]{20,250}`,
  'Slack webhook': String.raw`https:\/\/hooks\.slack\.com\/services\/T[A-Z0-9]{6,}\/B[A-Z0-9]{6,}\/[A-Za-z0-9]{20,}`,
  'Anthropic key': 'sk-ant-[a-z0-9]{3,12}-[A-Za-z0-9_-]{40,200}',
  'OpenAI key': 'sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{40,250}|sk-[A-Za-z0-9]{32,64}(?![A-Za-z0-9_-])',
  'AWS access key': '(?:AKIA|ASIA)[A-Z2-7]{16}(?![A-Z0-9])',
  'AWS secret key': String.raw`aws_secret_access_key["']?\s{0,3}[=:]\s{0,3}["']?[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])`,
  'Google API key': 'AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])',
  'Google OAuth secret': String.raw`GOCSPX-[A-Za-z0-9_-]{28}|ya29\.[A-Za-z0-9_-]{30,500}`,
  'Azure key': '(?:AccountKey|SharedAccessKey)=[A-Za-z0-9+/]{43,86}={1,2}',
  'npm token': 'npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])',
  'PyPI token': 'pypi-AgE[A-Za-z0-9_-]{50,250}',
  'Stripe key': '[sr]k_(?:live|test)_[A-Za-z0-9]{16,200}|whsec_[A-Za-z0-9+/=]{32,100}',
  'SendGrid key': String.raw`SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}`,
  'Telegram token': String.raw`\d{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])`,
  'Discord token': String.raw`[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}(?![A-Za-z0-9_.-])`,
  'Hugging Face token': 'hf_[A-Za-z0-9]{34}(?![A-Za-z0-9])',
  'DigitalOcean token': 'do[opr]_v1_[a-f0-9]{64}',
  'Databricks token': 'dapi[a-f0-9]{32}(?![a-z0-9])',
  'Shopify token': 'shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}',
  'Linear key': 'lin_api_[A-Za-z0-9]{40}',
  'Notion token': 'ntn_[A-Za-z0-9]{40,60}|secret_[A-Za-z0-9]{43}(?![A-Za-z0-9])',
  'Vault token': String.raw`hv[sbr]\.[A-Za-z0-9_-]{24,250}`,
  'Atlassian token': 'ATATT3[A-Za-z0-9_=-]{50,250}',
  'Grafana token': 'glsa_[A-Za-z0-9]{32}_[a-f0-9]{8}',
  'Supabase token': 'sbp_[a-f0-9]{40}',
  'Postman key': 'PMAK-[a-f0-9]{24}-[a-f0-9]{34}',
  'age key': 'AGE-SECRET-KEY-1[0-9A-Z]{58}',
  'Unfold token': 'unf(?:old_admin)?_[A-Za-z0-9_-]{20,100}',
  // Not after a hyphen: the characters of a token include it, so a long run would be read again at each of its hyphens.
  JWT: String.raw`(?<!-)eyJ[A-Za-z0-9_-]{10,4000}\.eyJ[A-Za-z0-9_-]{10,8000}\.[A-Za-z0-9_-]{16,2000}`,
  'private key': String.raw`-----BEGIN (?:[A-Z0-9]{2,10} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:\s{0,4}(?:Proc-Type|DEK-Info): [^\n-]{0,40}-?[^\n-]{0,40}-?[^\n-]{0,80}){0,3}[^-]{0,20000}(?:-----END [A-Z0-9 ]{0,50}-----)?`,
  'authorization header': String.raw`[Aa]uthorization["']?\s{0,3}[:=]\s{0,3}["']?(?:Bearer|Basic|bearer|basic|token)\s[A-Za-z0-9._~+/=-]{16,4000}`,
  'password in a URL': String.raw`[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@"'<>${'`'}]{0,100}:[^\s@/"'<>${'`'}]{3,200}@`,
}

const names = Object.keys(formats)
// Lookbehind: a pattern starts only at the start of a word, so a long word is not tried at each of its characters.
const pattern = new RegExp(
  `(?<![A-Za-z0-9_])(?:${Object.values(formats)
    .map((source) => `(${source})`)
    .join('|')})`,
  'g',
)

// Fast path: most texts contain none of the fixed characters.
const mayMatch =
  /g(?:h[pousr]_|ithub_pat_|l[a-z]{2,5}-|lsa_)|x(?:ox|app)|s(?:k[-_]|hp|ecret_|bp_)|rk_|h(?:ooks\.slack|f_|v[sbr]\.)|A(?:KIA|SIA|Iza|cc(?:ess|ount)Key|TATT3|GE-)|aws_secret|GOCSPX|ya29\.|n(?:pm_|tn_)|pypi-|whsec|SG\.|:(?:AA|\/\/[^\s/]{1,300}@)|[MNO][A-Za-z0-9_-]{23,25}\.|_v1_|dapi|lin_api|P(?:MAK|RIVATE KEY)|u(?:nf(?:old_admin)?_|thorization)|eyJ/

// Documentation and templates contain values of the right form that are not secrets.
const placeholder =
  /example|placeholder|changeme|your[-_ ]|<|\$\{|\{\{|\*{3}|\.{3}|x{6}|X{6}|0{8}|:(?:pass(?:word)?|pwd|secret|pw|token|123456?)@$/i

// More than this in one text is data for tests, or an attempt to use up memory.
const maxSecrets = 1_000

/** Finds secrets that have the format of a known issuer, in linear time. Randomness alone is not evidence. */
export function secretFormatsIn(text: string): readonly FoundSecret[] {
  if (!mayMatch.test(text)) return []
  const found: FoundSecret[] = []
  for (const match of text.matchAll(pattern)) {
    if (placeholder.test(match[0].slice(0, 300))) continue
    const format = names[match.slice(1).findIndex((group) => group !== undefined)] ?? ''
    found.push({ ...valueRange(match[0], format, match.index), format })
    if (found.length === maxSecrets) break
  }
  return found
}

/** Of a header or URL, only the value is secret. */
function valueRange(match: string, format: string, index: number): Range {
  const end = index + match.length
  if (format === 'password in a URL') return { start: index + match.indexOf(':', match.indexOf('://') + 3) + 1, end: end - 1 }
  if (format === 'authorization header') return { start: index + match.search(/\S+$/u), end }
  if (format === 'AWS secret key') return { start: end - 40, end }
  if (format === 'Azure key') return { start: index + match.indexOf('=') + 1, end }
  return { start: index, end }
}
