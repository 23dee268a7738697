import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { action, audit, connection, frame, log, request, snapshot } from '../../test/samples.ts'
import type { Body } from '../records/records.ts'
import { Redactor } from './redaction.ts'

const redactor = new Redactor()

const truncateBody = (mimeType: string, text: string, more: Partial<Body> = {}): string | undefined =>
  redactor.record('network', request({ requestBody: { mimeType, bytes: text.length, text, ...more } })).requestBody?.text

const headerOf = (name: string, value: string): string | undefined =>
  redactor.record('network', request({ requestHeaders: [{ name, value }] })).requestHeaders[0]?.value

describe('a header', () => {
  test.each([
    ['Authorization', 'Bearer abc', 'Bearer [redacted]'],
    ['authorization', 'Basic dXNlcjpwYXNz', 'Basic [redacted]'],
    ['Authorization', 'abc', '[redacted]'],
    ['Authorization', 'my secret words', '[redacted]'],
    ['Proxy-Authorization', 'Digest username="a", response="b"', 'Digest [redacted]'],
    ['Cookie', 'theme=dark; sid=8f3a; empty=; odd', 'theme=[redacted]; sid=[redacted]; empty=; [redacted]'],
    ['Set-Cookie', 'sid=8f3a; Path=/; HttpOnly; Max-Age=60', 'sid=[redacted]; Path=/; HttpOnly; Max-Age=60'],
    ['set-cookie', 'a=1; Path=/\nb=2; secret=3', 'a=[redacted]; Path=/\nb=[redacted]; secret=[redacted]'],
    ['X-Api-Key', 'k1', '[redacted]'],
    ['x-csrf-token', 'k1', '[redacted]'],
    ['X-Amz-Security-Token', 'k1', '[redacted]'],
    ['X-Auth-Token', 'k1', '[redacted]'],
    ['Session-Id', '77', '[redacted]'],
    ['Referer', 'https://h/?token=k1&page=2', 'https://h/?token=%5Bredacted%5D&page=2'],
    ['X-Debug', 'user bob, password=k1', 'user bob, password=[redacted]'],
  ])('%s: %s becomes %s', (name, value, kept) => {
    expect(headerOf(name, value)).toBe(kept)
  })

  test.each([
    ['Content-Type', 'application/json; charset=utf-8'],
    ['Access-Control-Allow-Credentials', 'true'],
    ['Access-Control-Allow-Headers', 'authorization, x-api-key'],
    ['Vary', 'Cookie, Authorization'],
    ['WWW-Authenticate', 'Bearer realm="shop"'],
    ['ETag', '"33a64df551425fcc55e4d42a148795d9f25f89d4"'],
    [':authority', 'auth.shop.example:8443'],
    ['User-Agent', 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36'],
    ['Content-Security-Policy', "script-src 'self' 'nonce-r4nd0m'"],
    ['Date', 'Sat, 31 Jan 2026 09:30:00 GMT'],
  ])('%s: %s is unchanged', (name, value) => {
    expect(headerOf(name, value)).toBe(value)
  })
})

describe('a URL', () => {
  test.each([
    ['https://h/a?token=k1&page=2', 'https://h/a?token=%5Bredacted%5D&page=2'],
    ['https://h/a?page=2&access_token=k1#top', 'https://h/a?page=2&access_token=%5Bredacted%5D#top'],
    ['https://h/a?user%5Bpassword%5D=k1', 'https://h/a?user%5Bpassword%5D=%5Bredacted%5D'],
    ['https://bob:k1@h:8080/a', 'https://%5Bredacted%5D@h:8080/a'],
    ['https://k1@h/', 'https://%5Bredacted%5D@h/'],
    ['https://h/cb#access_token=k1&state=x', 'https://h/cb#access_token=%5Bredacted%5D&state=x'],
    ['https://h/#/reset?token=k1', 'https://h/#/reset?token=%5Bredacted%5D'],
    ['https://h/list;jsessionid=k1?x=1', 'https://h/list;jsessionid=%5Bredacted%5D?x=1'],
    ['https://h/reset-password/8f3a99c0d1e2b3f4aa/form', 'https://h/reset-password/%5Bredacted%5D/form'],
    ['https://h/cb?code=4%2F0Adeu5BXkq91aa22bb&state=x', 'https://h/cb?code=%5Bredacted%5D&state=x'],
    ['https://h/?next=https%3A%2F%2Fh%2F%3Ftoken%3Dk1', 'https://h/?next=https%3A%2F%2Fh%2F%3Ftoken%3D%5Bredacted%5D'],
    ['https://h/?q=%7B%22pin%22%3A1234%7D', 'https://h/?q=%7B%22pin%22%3A%22%5Bredacted%5D%22%7D'],
    ['https://b/o?X-Amz-Signature=k1&X-Amz-Expires=60', 'https://b/o?X-Amz-Signature=%5Bredacted%5D&X-Amz-Expires=60'],
    ['/login?password=k1', '/login?password=%5Bredacted%5D'],
    ['wss://h/live?auth=k1', 'wss://h/live?auth=%5Bredacted%5D'],
  ])('%s becomes %s', (url, kept) => {
    expect(redactor.url(url)).toBe(kept)
  })

  test.each([
    'https://auth.shop.example:8443/session/new?code=404&key=name',
    'http://auth:3000/token',
    'https://h/passwords/reset',
    'https://h/items/42?max_tokens=100&password=',
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUA',
    'about:blank',
    'https://h/?a=%zz&b=%',
    '',
  ])('%s is unchanged', (url) => {
    expect(redactor.url(url)).toBe(url)
  })

  test('is still a URL', () => {
    const url = new URL(redactor.url('https://bob:k1@h/a?token=k1'))
    expect(url.searchParams.get('token')).toBe('[redacted]')
    expect(url.host).toBe('h')
  })
})

describe('JSON', () => {
  test('loses the values of secret-looking names, at any depth, and keeps its structure', () => {
    const value = {
      user: 'bob',
      password: 'k1',
      apiKey: 'k1',
      pin: 1234,
      session: { id: 'k1', roles: ['k1'], expires: 99, active: true, none: null },
      deep: [{ client_secret: 'k1' }, { 'card-number': '4000', cvv: 123 }],
      nested: JSON.stringify({ refreshToken: 'k1', more: JSON.stringify({ password: 'k"1' }) }),
    }
    expect(JSON.parse(redactor.text(JSON.stringify(value)))).toEqual({
      user: 'bob',
      password: '[redacted]',
      apiKey: '[redacted]',
      pin: '[redacted]',
      session: { id: '[redacted]', roles: ['[redacted]'], expires: '[redacted]', active: true, none: null },
      deep: [{ client_secret: '[redacted]' }, { 'card-number': '[redacted]', cvv: '[redacted]' }],
      nested: JSON.stringify({ refreshToken: '[redacted]', more: JSON.stringify({ password: '[redacted]' }) }),
    })
  })

  test('keeps values that only mention secrets', () => {
    const json = JSON.stringify({
      token_type: 'Bearer',
      expires_in: 3600,
      max_tokens: 100,
      password_required: true,
      token: null,
      passwordChangedAt: '2026-01-01',
      authorName: 'Ann',
      code: 'ERR_NOT_FOUND_404',
      key: 'page.title.2',
      compass: 'north',
      id: 9007199254740991,
    })
    expect(redactor.text(json)).toBe(json)
  })

  test('keeps its whitespace and its large numbers', () => {
    expect(redactor.text('{ "n": 12345678901234567890,\n  "password" : "k1" }')).toBe(
      '{ "n": 12345678901234567890,\n  "password" : "[redacted]" }',
    )
  })

  test.each([
    ['a list of names and values', '[{"name":"password","value":"k1"}]', '[{"name":"password","value":"[redacted]"}]'],
    ['a guard before it', ')]}\'\n{"token":"k1"}', ')]}\'\n{"token":"[redacted]"}'],
    ['a number before it', '42["login",{"token":"k1"}]', '42["login",{"token":"[redacted]"}]'],
    ['several after each other', '{"token":"k1"}\n{"token":"k2"}', '{"token":"[redacted]"}\n{"token":"[redacted]"}'],
    ['escapes in a name', '{"p\\u0061ssword":"k1"}', '{"p\\u0061ssword":"[redacted]"}'],
    ['a card as a number', '{"n":4111111111111111}', '{"n":"[redacted]"}'],
    ['a token after a line break', `{"env":"A=1\\nghp_${'a1'.repeat(18)}"}`, '{"env":"A=1\\n[redacted]"}'],
  ])('with %s', (_, json, kept) => {
    expect(redactor.text(json)).toBe(kept)
  })

  test('stays JSON of the same structure, for any content', () => {
    const name = fc.oneof(
      fc.constantFrom('password', 'token', 'session', 'user', 'name', 'value', 'cookie', 'authorization'),
      fc.string(),
    )
    const leaf = fc.oneof(
      fc.string({ unit: 'binary' }),
      fragments,
      fc.double(),
      fc.boolean(),
      fc.constant(null),
      fc.maxSafeInteger(),
    )
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        leaf,
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(name, tie('value'), { maxKeys: 4 }),
      ),
    }))
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 2), (given, indent) => {
        const json = JSON.stringify({ given }, undefined, indent)
        const clean = redactor.text(json)
        expect(shapeOf(JSON.parse(clean))).toEqual(shapeOf(JSON.parse(json)))
        expect(redactor.text(clean)).toBe(clean)
      }),
      { numRuns: 500 },
    )
  })

  test('reveals nothing of a secret wherever it was truncated', () => {
    const canary = 'Zq7Zq7Zq7Zq7'
    const json = JSON.stringify({
      user: 'bob',
      password: canary,
      list: [{ api_key: canary, n: 1 }],
      session: { a: { b: [canary, canary] } },
      inner: JSON.stringify({ token: `${canary}"${canary}\\` }),
      last: 'x',
    })
    for (let length = 0; length <= json.length; length++) {
      const kept = truncateBody('application/json', json.slice(0, length), { cut: true })
      expect(kept).not.toContain('Zq7')
      expect(truncateBody('text/plain', `sent ${json.slice(0, length)}`, { cut: true })).not.toContain('Zq7')
    }
  })
})

/** The same value without everything that can be redacted. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf)
  if (typeof value === 'object' && value !== null) return Object.values(value).map(shapeOf)
  return typeof value === 'string' || typeof value === 'number' ? 'value' : value
}

describe('a body', () => {
  test('of a form loses the values of secret-looking fields', () => {
    expect(truncateBody('application/x-www-form-urlencoded', 'user=bob&password=k%201&user%5Bpin%5D=12&note=a+b')).toBe(
      'user=bob&password=%5Bredacted%5D&user%5Bpin%5D=%5Bredacted%5D&note=a+b',
    )
  })

  test('of a multipart form does too', () => {
    const part = (name: string, value: string): string =>
      `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
    const text = `${part('user', 'bob')}${part('password', 'k1\r\nk2')}${part('file', 'plain')}--x--`
    expect(truncateBody('multipart/form-data; boundary=x', text)).toBe(
      `${part('user', 'bob')}${part('password', '[redacted]')}${part('file', 'plain')}--x--`,
    )
  })

  test('of HTML loses the values of secret fields', () => {
    const html = [
      '<meta name="csrf-token" content="k1">',
      '<input type="password" value="k1">',
      "<input value='k1' name='api_key'>",
      '<input type=hidden name=session_id value=k1>',
      '<input autocomplete="one-time-code" value="k1">',
      '<div data-token="k1"></div>',
      '<a href="/confirm?id=5&amp;token=8f3a99k1">',
      '<script>window.config = {"apiKey": "k1", token: \'k1\'}</script>',
    ].join('\n')
    const kept = truncateBody('text/html', html)
    expect(kept).not.toContain('k1')
    expect(kept?.match(/\[redacted\]/g)).toHaveLength(9)
  })

  test('of HTML is otherwise unchanged', () => {
    const html =
      '<form><label for="password">Password: <input type="password" name="password" placeholder="Your password"></label></form>'
    expect(truncateBody('text/html', html)).toBe(html)
  })

  test('of XML loses the content of secret elements', () => {
    expect(truncateBody('text/xml', '<a:login><user>bob</user><a:Password Type="text">k1</a:Password></a:login>')).toBe(
      '<a:login><user>bob</user><a:Password Type="text">[redacted]</a:Password></a:login>',
    )
  })

  test('that is a script stays a valid script', () => {
    const script =
      'const token = read(), session = { password: get(), key: 1 }; if (token == session.password) send({ secret: token }); on ? token=1 : session=t8o7k6e5n()'
    expect(truncateBody('text/javascript', script)).toBe(script)
    expect(truncateBody('text/javascript', "fetch('/a?access_token=some-token')")).toBe("fetch('/a?access_token=[redacted]')")
    expect(truncateBody('text/javascript', 'login({ password: "k1" })')).toBe('login({ password: "[redacted]" })')
  })

  test('of bytes is rewritten only if it contains a secret', () => {
    const bytes = Buffer.from([0, 255, 128, 7]).toString('base64')
    expect(truncateBody('application/octet-stream', bytes, { encoding: 'base64' })).toBe(bytes)
    const secret = Buffer.from('\u0000token=k1\u0001', 'latin1').toString('base64')
    const kept = truncateBody('application/octet-stream', secret, { encoding: 'base64' })
    expect(Buffer.from(kept ?? '', 'base64').toString('latin1')).toContain('token=[redacted]')
  })

  test('truncated within a token loses the beginning of the token too', () => {
    expect(truncateBody('text/plain', 'use ghp_a1B2c3D4', { cut: true })).toBe('use [redacted]')
    expect(truncateBody('application/json', '{"note":"use ghp_a1B2c3D4', { cut: true })).toBe('{"note":"use [redacted]')
  })

  test('without stored content is unchanged', () => {
    const requestBody = { mimeType: 'video/mp4', bytes: 10, omitted: 'no text' }
    expect(redactor.record('network', request({ requestBody })).requestBody).toEqual(requestBody)
  })
})

const tokens = {
  jwt: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
  github: `ghp_${'a1B2'.repeat(9)}`,
  fineGrained: `github_pat_${'11ABCDEFG0_'.repeat(6)}`,
  gitlab: 'glpat-a1B2c3D4e5F6g7H8i9J0',
  aws: 'AKIAIOSFODNN7EXAMPLE',
  slack: 'xoxb-123456789012-abcdefghijkl',
  stripe: `sk_live_${'a1B2'.repeat(6)}`,
  google: `AIza${'a1B2c'.repeat(7)}`,
  openai: `sk-proj-${'a1B2c3D4'.repeat(5)}`,
  anthropic: `sk-ant-api03-${'a1B2c3D4'.repeat(5)}`,
  npm: `npm_${'a1B2'.repeat(9)}`,
  privateKey: '-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\nabc+/=\n-----END RSA PRIVATE KEY-----',
}

describe('a token of a well-known format', () => {
  test.each(Object.entries(tokens))('is redacted in any context: %s', (_, token) => {
    for (const around of [token, `got ${token} back`, `<b>${token}</b>`, `a,${token};b`, `["${token}"]`]) {
      const kept = redactor.text(around)
      expect(kept).toContain('[redacted]')
      expect(kept.length).toBeLessThan(around.length)
      for (let i = 0; i + 12 <= token.length; i += 4) expect(kept).not.toContain(token.slice(i, i + 12))
    }
  })

  test.each([
    ['Bearer a1b2c3d4', 'Bearer [redacted]'],
    ['curl -H "Authorization: Bearer abc"', 'curl -H "Authorization: Bearer [redacted]"'],
    ['with Basic dXNlcjpwYXNz here', 'with Basic [redacted] here'],
    ['postgres://bob:k1@db/x', 'postgres://[redacted]@db/x'],
    ['{"key":"-----BEGIN PRIVATE KEY-----\\nMIIE\\nabc"}', '{"key":"[redacted]"}'],
    ['-----BEGIN PRIVATE KEY-----\nMIIE\ncut', '[redacted]'],
  ])('in %s', (text, kept) => {
    expect(redactor.text(text)).toBe(kept)
  })

  test.each([
    'Bearer authentication is required',
    'Basic information about your basic account',
    'the task-force-for-better-forms-2026 met',
    'npm_config_registry is not set',
    '-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----',
    'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=',
    '0190a3c4-7d2e-7cc1-9d3f-1a2b3c4d5e6f',
  ])('is not detected in %s', (text) => {
    expect(redactor.text(text)).toBe(text)
  })
})

describe('the number of a payment card', () => {
  test.each([
    '4111111111111111',
    '4111 1111 1111 1111',
    '5500-0000-0000-0004',
    '340000000000009',
    '3782 822463 10005',
    '6011000000000004',
  ])('%s is redacted', (number) => {
    expect(redactor.text(`paid with ${number}, thanks`)).toBe('paid with [redacted], thanks')
  })

  test('is redacted next to its date, and next to another number', () => {
    expect(redactor.text('4111 1111 1111 1111 12/29')).toBe('[redacted] 12/29')
    expect(redactor.text('4111111111111111 5500000000000004')).toBe('[redacted] [redacted]')
  })

  test.each([
    '4111111111111112',
    '1767225600000',
    '0.4111111111111111',
    'a4111111111111111',
    '41111111111111111111',
    '20260131093000',
  ])('%s is not a card number', (number) => {
    expect(redactor.text(`id ${number}`)).toBe(`id ${number}`)
  })
})

describe('a line of text', () => {
  test.each([
    ["{user: 'bob', password: 'k1', age: 5}", "{user: 'bob', password: '[redacted]', age: 5}"],
    ['API_KEY=k1 node main.js', 'API_KEY=[redacted] node main.js'],
    ['api key: k1', 'api key: [redacted]'],
    ['Password: k1', 'Password: [redacted]'],
    ['cookie: a=1; b=2', 'cookie: a=[redacted]; b=[redacted]'],
    ['session: 8f3a99', 'session: [redacted]'],
    ['{"msg":"x"} sent with token=k1', '{"msg":"x"} sent with token=[redacted]'],
    ['failed: {\\"password\\":\\"k1\\"}', 'failed: {\\"password\\":\\"[redacted]\\"}'],
    ['state {session: {id: 77, user: "bob"}} end', 'state {session: {id: [redacted], user: "[redacted]"}} end'],
    ['passphrase: correct horse battery', 'passphrase: [redacted]'],
    ['login(password: "k1")', 'login(password: "[redacted]")'],
    ['map[password => k1]', 'map[password => [redacted]]'],
    ['contraseña=k1 und Passwort: k1', 'contraseña=[redacted] und Passwort: [redacted]'],
  ])('%s becomes %s', (text, kept) => {
    expect(redactor.text(text)).toBe(kept)
  })

  test.each([
    'Session: started',
    'Signature: (a, b) => void',
    'at login (https://h/auth/token.js:10:5)',
    'src/session.ts:12:3 - error',
    'token: undefined, password: null',
    'session::before',
    'if (token === other)',
    'TypeError: x is not a function',
    'width: 10px; key=a1',
    'prompt_tokens: 512',
  ])('%s is unchanged', (text) => {
    expect(redactor.text(text)).toBe(text)
  })
})

describe('a record', () => {
  const secret = 'Zq7Zq7Zq7'
  const text = `password=${secret}`
  const url = `https://h/?token=${secret}`

  test.each([
    ['a log entry', redactor.record('logs', log({ text, stack: text, url, source: { url, line: 1, column: 1 } }))],
    [
      'a request',
      redactor.record(
        'network',
        request({
          url,
          pageUrl: url,
          redirectedTo: url,
          failure: text,
          statusText: text,
          requestHeaders: [{ name: 'Cookie', value: text }],
          responseHeaders: [{ name: 'Set-Cookie', value: text }],
          responseBody: { mimeType: 'text/plain', bytes: 1, text },
        }),
      ),
    ],
    ['a frame', redactor.record('sockets', frame({ url, text: JSON.stringify({ token: secret }) }))],
    ['a frame of bytes', redactor.record('sockets', frame({ text: Buffer.from(text).toString('base64'), encoding: 'base64' }))],
    [
      'an action',
      redactor.record(
        'actions',
        action({
          url,
          pageUrl: url,
          value: text,
          selectors: { text, label: text, css: `[data-token="${secret}"]`, xpath: '//a' },
        }),
      ),
    ],
    ['a snapshot', redactor.record('snapshots', snapshot({ url }))],
    [
      'an audit',
      redactor.record(
        'audits',
        audit({
          url,
          faults: audit().faults.map((fault) => ({
            ...fault,
            elements: [{ selector: `[data-token="${secret}"]`, html: `<input name="csrf" value="${secret}">`, summary: text }],
          })),
        }),
      ),
    ],
    ['a WebSocket', redactor.connection(connection({ url, closedBecause: text }))],
  ])('contains no secret in any of its texts: %s', (_, record) => {
    const json = JSON.stringify(record)
    expect(json).not.toContain(secret)
    expect(json).not.toContain(Buffer.from(secret).toString('base64').slice(0, 8))
    expect(json).toMatch(/(?:\[|%5B)redacted|cGFzc3dvcmQ9W3JlZGFjdGVkXQ/)
  })

  test.each([
    ['its label', { label: 'Card number', css: 'input', xpath: '//input' }],
    ['its placeholder', { placeholder: 'Your PIN', css: 'input', xpath: '//input' }],
    ['its test id', { testId: 'otp-field', css: 'input', xpath: '//input' }],
    ['its selector', { css: 'form > input[name="new_password"]', xpath: '//input' }],
  ])('of typed text has no value if %s marks the field as secret', (_, selectors) => {
    const typed = redactor.record('actions', action({ action: 'input', value: 'k1', selectors }))
    expect(typed).toMatchObject({ secret: true, selectors })
    expect(typed).not.toHaveProperty('value')
  })

  test('of typed text keeps its value otherwise', () => {
    const selectors = { label: 'Promo code', css: '#password-form input', xpath: '//input' }
    expect(redactor.record('actions', action({ action: 'input', value: 'SPRING', selectors }))).toMatchObject({ value: 'SPRING' })
  })

  test('without secrets is the same object', () => {
    expect(redactor.record('logs', log())).toEqual(log())
    expect(redactor.record('network', request())).toEqual(request())
    expect(redactor.record('sockets', frame())).toEqual(frame())
    expect(redactor.record('actions', action())).toEqual(action())
    expect(redactor.record('snapshots', snapshot())).toEqual(snapshot())
    expect(redactor.record('audits', audit())).toEqual(audit())
  })
})

describe('a value', () => {
  test('loses the values of secret-looking names, and is otherwise unchanged', () => {
    const own = new Redactor({ patterns: [{ name: 'pair', pattern: '"a":"\\w+"' }] })
    const value = { a: 'b', list: [1, null, 'token=k1'], password: 'k1' }
    expect(own.value(value)).toEqual({ a: 'b', list: [1, null, 'token=[redacted]'], password: '[redacted]' })
    expect(own.value('token=k1')).toBe('token=[redacted]')
    expect(own.value(null)).toBeNull()
  })
})

const pieces = fc.constantFrom(
  ...[
    'password',
    'token',
    'session',
    'cookie',
    'Authorization',
    'key',
    'Bearer ',
    'Basic ',
    'user',
    'k1',
    '[redacted]',
    '%5Bredacted%5D',
  ],
  ...[
    '"',
    "'",
    '`',
    '\\',
    '\\"',
    ':',
    '=',
    ' ',
    '\n',
    '{',
    '}',
    '[',
    ']',
    ',',
    ';',
    '&',
    '?',
    '#',
    '/',
    '://',
    '@',
    '<',
    '>',
    '%',
    '%3D',
    '(',
    ')',
  ],
  ...[
    '4111111111111111',
    '12',
    '-----BEGIN PRIVATE KEY-----',
    '-----END PRIVATE KEY-----',
    '<input name="token" value="',
    'eyJabcdef.abcdef',
  ],
  ...Object.values(tokens),
)
const fragments = fc.array(pieces, { maxLength: 14, size: 'max' }).map((parts) => parts.join(''))

test('redaction is idempotent', () => {
  fc.assert(
    fc.property(fragments, (text) => {
      const kept = redactor.text(text)
      expect(redactor.text(kept)).toBe(kept)
      const url = redactor.url(text)
      expect(redactor.url(url)).toBe(url)
      const markup = redactor.markup(text)
      expect(redactor.markup(markup)).toBe(markup)
    }),
    { numRuns: 3_000 },
  )
})

test('any text is accepted, and text without secrets is unchanged', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
      expect(typeof redactor.text(text)).toBe('string')
      expect(typeof redactor.url(text)).toBe('string')
      const harmless = text.replace(/[:=@\d]/g, '')
      expect(redactor.text(harmless)).toBe(harmless)
    }),
  )
})

describe('a megabyte of', () => {
  const megabyte = 1_000_000
  const hostile = [
    ...[
      'a',
      '{',
      '[',
      '"',
      '\\',
      '\\"',
      '=',
      ':',
      'a:',
      '4',
      '4111 ',
      '1 ',
      '<',
      '<a b="',
      '<a ',
      '&a=%',
      '/',
      '://',
      '://a@',
      ';',
      '-',
    ],
    ...[
      'password:',
      'password="',
      '"password":{',
      '"password":["',
      '[password]=',
      'password=)',
      'password:\'"',
      'password: ',
      'cookie: ;',
    ],
    ...['eyJ', 'eyJaaaaa.', 'sk-', 'bearer ', 'basic aa', 'AKIA', 'ghp_', '-----BEGIN PRIVATE KEY-----', '-----END '],
    ...[
      '-----BEGIN PRIVATE KEY----------END PRIVATE KEY-----',
      '"a":',
      '{"a":',
      '\r\n\r\nname="password"',
      '<password>',
      '%',
      '%3D',
    ],
  ]

  // Quadratic work would take hours here.
  test.each(hostile)('%j is processed in linear time', (piece) => {
    const text = piece.repeat(Math.ceil(megabyte / piece.length))
    for (const clean of [redactor.text(text), redactor.url(text), redactor.markup(text)]) expect(clean.length).toBeGreaterThan(0)
    const forms = ['multipart/form-data', 'application/x-www-form-urlencoded', 'text/javascript']
    for (const type of forms) expect(truncateBody(type, text.slice(0, 200_000), { cut: true })?.length).toBeGreaterThan(0)
  })
})

test('redactions are counted by rule, without text that is already redacted', () => {
  const counting = new Redactor({ patterns: [{ name: 'customer', pattern: 'ACME-\\d+' }] })
  counting.text('password=k1 ACME-1 and ACME-2')
  counting.text('password=[redacted] [redacted]')
  counting.url('https://bob:k1@h/?token=k1')
  counting.record('network', request({ requestHeaders: [{ name: 'Cookie', value: 'a=1' }] }))
  expect(counting.counts()).toEqual({ cookie: 1, field: 1, parameter: 1, 'pattern:customer': 2, user: 1 })
})

describe('a custom pattern', () => {
  test('is redacted from then on, until it is removed', () => {
    const own = new Redactor()
    expect(own.text('customer ACME-123')).toBe('customer ACME-123')
    own.add({ name: 'customer', pattern: 'ACME-\\d+' })
    expect(own.list()).toEqual([{ name: 'customer', pattern: 'ACME-\\d+' }])
    expect(own.text('customer ACME-123')).toBe('customer [redacted]')
    expect(own.remove('customer')).toBe(true)
    expect(own.remove('customer')).toBe(false)
    expect(own.text('customer ACME-123')).toBe('customer ACME-123')
  })

  test('is found in URLs, JSON, numbers and typed texts', () => {
    const own = new Redactor({ patterns: [{ name: 'number', pattern: '\\b77\\d{4}\\b' }] })
    expect(own.url('https://h/771234?n=771234')).toBe('https://h/%5Bredacted%5D?n=%5Bredacted%5D')
    expect(own.url('https://h/771234?n=771234')).not.toContain('771234')
    expect(own.text('{"n":771234,"s":"is 771234"}')).toBe('{"n":"[redacted]","s":"is [redacted]"}')
    expect(own.record('actions', action({ value: '771234' }))).toMatchObject({ value: '[redacted]' })
  })

  test('applies to URLs seen before it was added', () => {
    const own = new Redactor()
    expect(own.url('https://h/ACME-1')).toBe('https://h/ACME-1')
    own.add({ name: 'customer', pattern: 'ACME-\\d+' })
    expect(own.url('https://h/ACME-1')).toBe('https://h/%5Bredacted%5D')
  })

  test('can span parts of JSON if it contains quotes', () => {
    const own = new Redactor({ patterns: [{ name: 'pair', pattern: '"ref":"\\w+"' }] })
    expect(own.text('{"ref":"abc","n":1}')).toBe('{[redacted],"n":1}')
  })

  test('never redacts the marker', () => {
    const own = new Redactor({ patterns: [{ name: 'word', pattern: 'redacted' }] })
    expect(own.text('password=k1 redacted')).toBe('password=[redacted] [redacted]')
    expect(own.text(own.text('password=k1 redacted'))).toBe('password=[redacted] [redacted]')
  })

  test('that is rejected leaves the existing one of the same name', () => {
    const own = new Redactor({ patterns: [{ name: 'customer', pattern: 'ACME' }] })
    expect(() => own.add({ name: 'customer', pattern: '(a' })).toThrow('Unterminated group.')
    expect(own.text('ACME')).toBe('[redacted]')
  })

  test('requires a plain name, and there are at most fifty', () => {
    const own = new Redactor()
    expect(() => own.add({ name: 'A b\u202e', pattern: 'x' })).toThrow(
      '"A b\\u202e" cannot be a pattern\'s name. Use 1 to 40 small letters, digits, underscores and hyphens.',
    )
    for (let i = 0; i < 50; i++) own.add({ name: `p${i}`, pattern: `x${i}` })
    expect(() => own.add({ name: 'one-more', pattern: 'x' })).toThrow('There are 50 patterns, the maximum.')
    expect(() => own.add({ name: 'p0', pattern: 'y' })).not.toThrow()
  })
})
