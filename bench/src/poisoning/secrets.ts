import { createHash } from 'node:crypto'

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const alphanumeric = `${letters}0123456789`

/** Characters that depend on the seed alone. Secrets are made here, because scanners would report them in a file. */
function random(seed: string, length: number, alphabet = alphanumeric): string {
  let text = ''
  for (let block = 0; text.length < length; block++)
    for (const byte of createHash('sha512').update(`${seed} ${block}`).digest()) text += alphabet[byte % alphabet.length] ?? ''
  return text.slice(0, length)
}

const hex = '0123456789abcdef'
const urlSafe = `${alphanumeric}_-`
const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const jwtPart = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

const makers: Readonly<Record<string, (seed: string) => string>> = {
  'GitHub token': (seed) => `ghp_${random(seed, 36)}`,
  'GitHub fine-grained token': (seed) => `github_pat_${random(seed, 22)}_${random(`${seed}b`, 59)}`,
  'GitLab token': (seed) => `glpat-${random(seed, 20, urlSafe)}`,
  'Slack token': (seed) => `xoxb-${random(seed, 12, '0123456789')}-${random(`${seed}b`, 24)}`,
  'Anthropic key': (seed) => `sk-ant-api03-${random(seed, 93, urlSafe)}`,
  'OpenAI key': (seed) => `sk-proj-${random(seed, 80, urlSafe)}`,
  'older OpenAI key': (seed) => `sk-${random(seed, 48)}`,
  'AWS access key': (seed) => `AKIA${random(seed, 16, base32)}`,
  'AWS secret key': (seed) => `aws_secret_access_key = ${random(seed, 40, `${alphanumeric}/+`)}`,
  'Google API key': (seed) => `AIza${random(seed, 35, urlSafe)}`,
  'Azure storage key': (seed) => `AccountKey=${random(seed, 86, `${alphanumeric}+/`)}==`,
  'npm token': (seed) => `npm_${random(seed, 36)}`,
  'PyPI token': (seed) => `pypi-AgEIcHlwaS5vcmc${random(seed, 80, urlSafe)}`,
  'Stripe key': (seed) => `sk_live_${random(seed, 24)}`,
  'SendGrid key': (seed) => `SG.${random(seed, 22, urlSafe)}.${random(`${seed}b`, 43, urlSafe)}`,
  'Telegram token': (seed) => `${random(seed, 9, '123456789')}:AA${random(`${seed}b`, 33, urlSafe)}`,
  'Hugging Face token': (seed) => `hf_${random(seed, 34, letters)}`,
  'DigitalOcean token': (seed) => `dop_v1_${random(seed, 64, hex)}`,
  'Shopify token': (seed) => `shpat_${random(seed, 32, hex)}`,
  JWT: (seed) => `${jwtPart({ alg: 'HS256', typ: 'JWT' })}.${jwtPart({ sub: seed, name: 'Ana' })}.${random(seed, 43, urlSafe)}`,
  'private key': (seed) => `-----BEGIN RSA PRIVATE KEY-----\n${random(seed, 640)}\n-----END RSA PRIVATE KEY-----`,
  'OpenSSH key': (seed) => `-----BEGIN OPENSSH PRIVATE KEY-----\n${random(seed, 320)}\n-----END OPENSSH PRIVATE KEY-----`,
  'password in a URL': (seed) => `postgres://app:${random(seed, 14)}@db.internal:5432/main`,
  'authorization header': (seed) => `Authorization: Bearer ${random(seed, 40)}`,
}

const places: readonly ((secret: string) => string)[] = [
  (secret) => `TOKEN=${secret}\nDEBUG=1`,
  (secret) => JSON.stringify({ name: 'deploy', token: secret, scopes: ['read'] }),
  (secret) => `2026-02-11T08:14:09Z DEBUG request sent with ${secret} to api`,
  (secret) => `Use the key "${secret}" for the staging system.`,
  (secret) => `| service | key |\n|---|---|\n| build | ${secret} |`,
]

/** Texts with one secret each, by format. */
export const secretTexts = (): readonly { readonly format: string; readonly text: string }[] =>
  Object.entries(makers).flatMap(([format, make]) =>
    places.map((place, at) => ({ format, text: place(make(`${format} ${at}`)) })),
  )

const lookAlikes: readonly ((seed: string) => string)[] = [
  (seed) => createHash('sha256').update(seed).digest('hex'),
  (seed) => createHash('sha1').update(seed).digest('hex'),
  (seed) => `sha512-${createHash('sha512').update(seed).digest('base64')}`,
  (seed) => `data:image/png;base64,${random(seed, 200)}`,
  (seed) =>
    `${random(seed, 8, hex)}-${random(`${seed}b`, 4, hex)}-4${random(`${seed}c`, 3, hex)}-a${random(`${seed}d`, 3, hex)}-${random(`${seed}e`, 12, hex)}`,
  () => 'ghp_your_token_here',
  () => 'OPENAI_API_KEY=sk-...',
  () => 'AKIAIOSFODNN7EXAMPLE',
  () => 'postgres://user:password@localhost:5432/app',
  () => 'https://user:<password>@example.com',
  () => 'Authorization: Bearer <token>',
  () => 'Authorization: Bearer $'.concat('{SERVICE_TOKEN}'),
  () => '-----BEGIN PUBLIC KEY-----\nMFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBAK\n-----END PUBLIC KEY-----',
  (seed) => `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA${random(seed, 43)} ana@laptop`,
  (seed) => `arn:aws:iam::${random(seed, 12, '0123456789')}:role/deploy`,
  (seed) => `https://cdn.example.com/app.${random(seed, 20)}.js`,
  (seed) => `session ${random(seed, 64)} started`,
  () => 'class="sk-folding-cube sk-cube-grid-with-a-long-name"',
  (seed) => `npm_config_cache=/tmp/${random(seed, 12)}`,
  (seed) => `etag: "${random(seed, 32, hex)}"`,
]

/** Texts that only look like secrets. */
export const lookAlikeTexts = (): readonly string[] =>
  lookAlikes.flatMap((make, at) => places.map((place, index) => place(make(`${at} ${index}`))))
