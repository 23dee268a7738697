import { expect, test } from 'vitest'
import { parseConfig } from './read.ts'
import { createToken, hashOf, verifyToken } from './tokens.ts'

test('a token is recognised, with its profile', () => {
  const mine = createToken('laptop', 'home')
  const other = createToken('server')
  const records = [other.record, mine.record]
  expect(verifyToken(mine.token, records)).toEqual({ name: 'laptop', hash: hashOf(mine.token), profile: 'home' })
  expect(verifyToken(other.token, records)?.profile).toBeUndefined()
})

test('the stored record of a token gives no access and does not contain the token', () => {
  const { token, record } = createToken('laptop')
  expect(JSON.stringify(record)).not.toContain(token.slice(4))
  expect(verifyToken(record.hash, [record])).toBeUndefined()
  expect(verifyToken(record.hash.slice(7), [record])).toBeUndefined()
})

test('tokens have 256 random bits and are unique', () => {
  const made = new Set(Array.from({ length: 200 }, (_, index) => createToken(`t${index}`).token))
  expect(made.size).toBe(200)
  for (const token of made) {
    expect(token).toMatch(/^unf_[\w-]{43}$/u)
    expect(Buffer.from(token.slice(4), 'base64url')).toHaveLength(32)
  }
})

test('only the complete token is accepted', () => {
  const { token, record } = createToken('laptop')
  const wrong = [
    '',
    'unf_',
    token.slice(0, -1),
    `${token}x`,
    ` ${token}`,
    token.toUpperCase(),
    `Bearer ${token}`,
    'x'.repeat(1_000_000),
  ]
  for (const each of wrong) expect(verifyToken(each, [record])).toBeUndefined()
  expect(verifyToken(token, [])).toBeUndefined()
})

test('the hash of a hand-written weak secret gives no access', () => {
  expect(verifyToken('password', [{ name: 'x', hash: hashOf('password') }])).toBeUndefined()
  expect(verifyToken('unf_', [{ name: 'x', hash: hashOf('unf_') }])).toBeUndefined()
})

test('a record can be stored in the configuration unchanged', () => {
  const { record } = createToken('laptop', 'home')
  const text = JSON.stringify({ tokens: [record], profiles: { home: {} }, listen: { host: '0.0.0.0' } })
  expect(parseConfig(text, { file: 'unfold.json', environment: {} }).config.tokens).toEqual([record])
})
