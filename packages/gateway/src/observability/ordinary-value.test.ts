import { printable } from '@unfold-mcp/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { propertyRuns } from '../../../../test/runs.ts'
import { configSchema } from '../config/schema.ts'
import { isOrdinaryValue } from './ordinary-value.ts'
import { Redactor } from './redactor.ts'

describe('ordinary values are not redacted', () => {
  test.each([
    ['NODE_ENV', 'production'],
    ['APP_ENV', 'my-production'],
    ['STAGE', 'staging'],
    ['PATH', '/usr/local/sbin:/usr/local/bin'],
    ['PWD', '/srv/project'],
    ['HOME', '/home/ann'],
    ['LC_ALL', 'en_US.UTF-8'],
    ['TZ', 'Europe/Berlin'],
    ['DEBUG', 'mcp:*'],
    ['LOG_LEVEL', 'verbose'],
    ['VERBOSE', 'enabled'],
    ['MAX_ITEMS', '1000000'],
    ['TIMEOUT', '30000ms'],
    ['AWS_REGION', 'eu-central-1'],
    ['API_URL', 'https://api.example.com/v2'],
    ['REGISTRY', 'http://localhost:4873/'],
    ['DATA', '/var/lib/my-server/data_2024'],
    ['NODE', '/usr/lib/node-v20.19.0/bin/node'],
    ['DATA', 'C:\\Users\\Ann\\mcpServers'],
    ['Accept', 'application/json'],
  ])('%s=%s', (name, value) => {
    expect(isOrdinaryValue(name, value)).toBe(true)
  })
})

describe('possible secrets are redacted', () => {
  test.each([
    ['API_TOKEN', 'production'],
    ['DB_PASS', 'localhost'],
    ['DB_PASSWORD', 'sunshine'],
    ['SSH_KEY', '/home/ann/key'],
    ['ACCOUNT_PIN', '123456'],
    ['X-Api-Key', 'enabled'],
    ['SOMETHING', 'correcthorse'],
    ['SOMETHING', 'kp9-27fh-zz31'],
    ['ACCOUNT', '12345678901234'],
    ['DATABASE_URL', 'postgres://ann:pw@db.example.com/app'],
    ['WEBHOOK', 'https://hooks.example.com/services/T024BE7LH/B08/nKdx2aQ9'],
    ['CALLBACK', 'https://example.com/?code=abcdef'],
    ['REGION', 'x7Kd93jfQ'],
    ['DATA', '/9j4AAQSkZJRgABAQAAAQ'],
    ['DATA', '/dGhpcyBpcyBh/IHNlY3JldA'],
  ])('%s=%s', (name, value) => {
    expect(isOrdinaryValue(name, value)).toBe(false)
  })
})

test('a random value of high entropy is redacted under any name and in every encoding', () => {
  // Without bias: fast-check prefers small numbers, which have little entropy.
  const random = fc
    .tuple(fc.noBias(fc.uint8Array({ minLength: 12, maxLength: 48 })), fc.constantFrom('hex', 'base64', 'base64url'))
    .map(([bytes, encoding]) => Buffer.from(bytes).toString(encoding as BufferEncoding))
  const name = fc.constantFrom('A', 'VALUE', 'REGION', 'DATA_DIR', 'SERVER_URL', 'API_KEY', 'APP_NAME', 'LEVEL')
  const around = fc.constantFrom(
    (text: string) => text,
    (text: string) => `/${text}`,
    (text: string) => `https://example.com/${text}`,
    (text: string) => `prefix-${text}`,
    (text: string) => `"${text}"\n`,
  )
  fc.assert(
    fc.property(random, name, around, (value, variable, context) => {
      const secret = context(value)
      const redactor = new Redactor()
      redactor.addConfig(configSchema.parse({ mcpServers: { a: { command: 'x', env: { [variable]: secret } } } }))
      const encodings = [
        secret,
        secret.trim(),
        JSON.stringify(secret).slice(1, -1),
        encodeURIComponent(secret),
        printable(secret),
      ]
      for (const text of encodings) {
        expect(redactor.text(`It was ${text}.`)).toBe('It was [secret].')
        expect(JSON.stringify(redactor.data({ nested: [text] }))).toBe('{"nested":["[secret]"]}')
      }
    }),
    propertyRuns({ long: 10_000, sample: 500 }),
  )
})
