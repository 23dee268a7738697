import fc from 'fast-check'
import { expect, test } from 'vitest'
import { configSchema } from '../config/schema.ts'
import { Redactor } from './redactor.ts'

test('secrets are redacted in any context and encoding', () => {
  const secret = fc.string({ minLength: 6, maxLength: 60, unit: 'binary' }).filter((text) => text.trim().length >= 6)
  fc.assert(
    fc.property(fc.array(secret, { minLength: 1, maxLength: 5 }), fc.string(), (values, around) => {
      const secrets = new Redactor()
      secrets.add(values)
      for (const value of values) {
        const redacted = secrets.text(`${around.replaceAll(value, '')} ${value} `)
        expect(redacted.includes(value) && !'[secret]'.includes(value)).toBe(false)
        const nested = JSON.stringify(secrets.data({ deep: [{ [value]: value, error: new Error(`It was ${value}.`) }] }))
        expect(nested).not.toContain(JSON.stringify(` ${value}`).slice(2, -1))
      }
    }),
    { numRuns: 100 },
  )
})

test('values that look like secrets are redacted', () => {
  const secrets = new Redactor()
  for (const [text, redacted] of [
    ['Authorization: Bearer abc.def-123', 'Authorization: Bearer [secret]'],
    ['https://ann:pw@host.example/x', 'https://[secret]host.example/x'],
    [`unf_${'a'.repeat(43)} was wrong`, '[secret] was wrong'],
    ['the bearer of news', 'the bearer of news'],
  ])
    expect(secrets.text(text ?? '')).toBe(redacted)
  expect(secrets.data({ Authorization: 'x', password: 'y', count: 1, size: 5n })).toEqual({
    Authorization: '[secret]',
    password: '[secret]',
    count: 1,
    size: '5',
  })
})

test('redacted data is bounded in size and depth', () => {
  const secrets = new Redactor()
  const cyclic: { self?: unknown } = {}
  cyclic.self = cyclic
  expect(JSON.stringify(secrets.data(cyclic)).length).toBeLessThan(200)
  expect(secrets.text('x'.repeat(10_000_000)).length).toBeLessThan(10_000)
  expect(secrets.data(Array.from({ length: 5_000 }, () => 1))).toHaveLength(200)
})

test('renewed secrets stay redacted, however old they are', () => {
  const secrets = new Redactor()
  secrets.add(['another-1'])
  for (let at = 0; at < 5_000; at++) secrets.addRenewed('https://a.example', [`access-${at}`, 'refresh-1'])
  secrets.addRenewed('https://b.example', ['another'])
  expect(secrets.text('access-4999 access-100 access-0 refresh-1 another')).toBe('[secret] [secret] [secret] [secret] [secret]')
  expect(secrets.text('access-5000 has not been there')).toBe('[secret]0 has not been there')
  // Overlapping secrets are redacted once.
  expect(secrets.text('so another-1 it is')).toBe('so [secret] it is')
  expect(secrets.name('access-7')).toBe('[secret]')
  secrets.addRenewed('https://b.example', ['access-is-over'])
  expect(secrets.name('access-is-over')).toBe('[secret]')
})

test('the npm cache path is not a secret, other variables of a server are', () => {
  const secrets = new Redactor()
  const env = { npm_config_cache: '/var/cache/npm', KEY: 'key-of-the-server' }
  secrets.addConfig(configSchema.parse({ mcpServers: { a: { command: 'npx', env } } }))
  expect(secrets.text('delete /var/cache/npm/_npx/5b2d, not key-of-the-server')).toBe(
    'delete /var/cache/npm/_npx/5b2d, not [secret]',
  )
})

test('the secret of a cluster and the password of its Redis are redacted', () => {
  const secrets = new Redactor()
  const secret = 'shared-by-all-replicas-0123456789'
  secrets.addConfig(configSchema.parse({ cluster: { url: 'redis+sentinel://:red%40is-pw@a,b/main', secret } }))
  expect(secrets.text(`${secret} and red@is-pw`)).toBe('[secret] and [secret]')
})
