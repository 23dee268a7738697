import { type Attack, answered, rejected } from '../attack.ts'
import { common, head, type Piece } from '../raw.ts'

const mebibyte = 1024 * 1024
const tooLarge = rejected(-32000, 'body_too_large', { status: 413 })

const around = (args: string): string =>
  `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","arguments":${args}}}`

/** A message that exceeds the other limits but not the size limit; HTTP rejects it before parsing, so its id is unknown. */
const past = (what: string, id: Attack['id'], args: () => string): Attack => ({
  id,
  what,
  over: 'both',
  as: 'session',
  send: { body: () => around(args()) },
  expect: {
    http: rejected(-32602, 'arguments_too_large', { status: 400 }),
    stdio: rejected(-32602, 'arguments_too_large', { id: 5 }),
  },
})

function chunked(pieces: number): readonly Piece[] {
  const piece = { bytes: `10000\r\n${'x'.repeat(0x10000)}\r\n` }
  return [
    { bytes: head('POST', '/mcp', { ...common, 'transfer-encoding': 'chunked' }) },
    ...Array.from({ length: pieces }, () => piece),
    { bytes: '0\r\n\r\n' },
  ]
}

/** Section B: too large, too many elements, nested too deeply. */
export const size: readonly Attack[] = [
  {
    id: 'AT-B19-length',
    what: 'a body of 4 MiB and one byte',
    over: 'http',
    as: 'stranger',
    send: { body: () => 'x'.repeat(4 * mebibyte + 1) },
    expect: tooLarge,
  },
  {
    id: 'AT-B19-claimed',
    what: 'a Content-Length of 100 GB without a body',
    over: 'http',
    as: 'stranger',
    send: { bytes: () => [{ bytes: head('POST', '/mcp', { ...common, 'content-length': '100000000000' }) }] },
    expect: tooLarge,
  },
  {
    id: 'AT-B19-chunked',
    what: 'a body of 5 MiB in chunks',
    over: 'http',
    as: 'stranger',
    send: { bytes: () => chunked(80) },
    expect: tooLarge,
  },
  {
    id: 'AT-B19-endless',
    what: 'a body of 64 MiB in chunks, sent on after the rejection',
    over: 'http',
    as: 'stranger',
    send: { bytes: () => chunked(1_024) },
    expect: tooLarge,
  },
  {
    id: 'AT-B19-fits',
    what: 'a body of almost 4 MiB, mostly one string with a million commas',
    over: 'both',
    as: 'session',
    send: { body: () => around(`{"a":"${',["'.replaceAll('"', '\\"').repeat(1_000_000)}"}`) },
    expect: answered(),
  },
  past('2,000,000 elements in 4 MiB', 'AT-B21-elements', () => `{"a":[${'0,'.repeat(2_000_000)}0]}`),
  past('200,000 empty arrays', 'AT-B21-arrays', () => `{"a":[${'[],'.repeat(200_000)}[]]}`),
  past('300,000 members', 'AT-B22-keys', () => `{${Array.from({ length: 300_000 }, (_, index) => `"k${index}":0`).join()}}`),
  past('1,000,000 levels of arrays', 'AT-B22-depth', () => `{"a":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}`),
  past('200,000 levels of objects', 'AT-B22-objects', () => `${'{"a":'.repeat(200_000)}0${'}'.repeat(200_000)}`),
  past('101 levels', 'AT-B22-over', () => `{"a":${'['.repeat(101)}${']'.repeat(101)}}`),
  {
    id: 'AT-B22-unclosed',
    what: '1,000,000 levels that are never closed',
    over: 'http',
    as: 'session',
    send: { body: () => '['.repeat(1_000_000) },
    expect: rejected(-32602, 'arguments_too_large', { status: 400 }),
  },
  {
    id: 'AT-B22-key',
    what: 'a name of 1 MB',
    over: 'both',
    as: 'session',
    send: { body: () => around(`{"${'k'.repeat(1_000_000)}":0}`) },
    expect: answered(),
  },
  {
    id: 'AT-B22-escapes',
    what: 'an unterminated string of 1,000,000 escapes',
    over: 'http',
    as: 'session',
    send: { body: () => `{"a":"${'\\'.repeat(999_999)}"}` },
    expect: rejected(-32700, 'invalid_json', { status: 400 }),
  },
]
