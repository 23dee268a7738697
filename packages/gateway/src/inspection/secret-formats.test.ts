import { expect, test } from 'vitest'
import { cpuTime } from '../../../../test/cpu-time.ts'
import { secretFormatsIn } from './secret-formats.ts'

const random = (length: number): string => 'aB3dE6gH9jK2mN5pQ8sT1vW4yZ7'.repeat(20).slice(0, length)

// Put together here, so that scanners of this repository do not report them.
const secrets: readonly (readonly [format: string, secret: string])[] = [
  ['GitHub token', `ghp_${random(36)}`],
  ['GitHub token', `github_pat_${random(22)}_${random(59)}`],
  ['GitLab token', `glpat-${random(20)}`],
  ['Slack token', `xoxb-${random(30)}`],
  ['Anthropic key', `sk-ant-api03-${random(93)}`],
  ['OpenAI key', `sk-proj-${random(80)}`],
  ['OpenAI key', `sk-${random(48)}`],
  ['AWS access key', ['AKIA', 'ABCDEFGH234567QR'].join('')],
  ['Google API key', `AIza${random(35)}`],
  ['npm token', `npm_${random(36)}`],
  ['Stripe key', `sk_live_${random(24)}`],
  ['JWT', `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTYifQ.${random(43)}`],
  ['private key', `-----BEGIN EC PRIVATE KEY-----\n${random(160)}\n-----END EC PRIVATE KEY-----`],
  [
    'private key',
    `-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,ABCDEF\n\n${random(160)}\n-----END RSA PRIVATE KEY-----`,
  ],
]

test.each(secrets)('a %s is found with its exact range', (format, secret) => {
  expect(secretFormatsIn(`first "${secret}", then more`)).toEqual([{ format, start: 7, end: 7 + secret.length }])
})

test('of a header and a URL, only the value is secret', () => {
  const text = `Authorization: Bearer ${random(30)} and postgres://app:${random(12)}@db/main`
  expect(secretFormatsIn(text).map(({ start, end }) => text.slice(start, end))).toEqual([random(30), random(12)])
})

test.each([
  'ghp_your_token_here',
  'OPENAI_API_KEY=sk-...',
  'AKIAIOSFODNN7EXAMPLE',
  'postgres://user:password@localhost/app',
  'Authorization: Bearer <token>',
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '123e4567-e89b-12d3-a456-426614174000',
  '-----BEGIN PUBLIC KEY-----',
  `sha512-${random(86)}==`,
  `data:image/png;base64,${random(400)}`,
])('placeholders, hashes and other random text are not secrets: %s', (text) => {
  expect(secretFormatsIn(text)).toEqual([])
})

test('AT-S08-1: the time is linear for any repeated text', async () => {
  const parts = [
    ...['a', 'eyJ', 'eyJ ', 'eyJaaaaaaaaaa.', '-----BEGIN PRIVATE KEY-----', 'a://a', 'x://a:aaa ', 'sk-', 'x ghp_'],
    ...[
      `${'M'.repeat(24)}.`,
      '0123456789:AA',
      'authorization: bearer ',
      `http://${'a'.repeat(250)}`,
      '-----BEGIN PRIVATE KEY-----\nDEK-Info: ',
    ],
  ]
  const cost = async (part: string, length: number): Promise<number> => {
    const text = part.repeat(Math.ceil(length / part.length)).slice(0, length)
    const times = []
    for (let run = 0; run < 3; run++) times.push((await cpuTime(() => secretFormatsIn(text))).ms)
    return Math.min(...times)
  }
  for (const part of parts) {
    const [short, long] = [await cost(part, 100_000), await cost(part, 800_000)]
    // Eight times the text; quadratic time would be sixty-four times the cost.
    expect(long).toBeLessThan(8 * 4 * Math.max(short, 3))
  }
  // Not a thousand times the cost of other texts either.
  expect(await cost('eyJ-', 400_000)).toBeLessThan(40 * Math.max(await cost('sk-', 400_000), 5))
})
