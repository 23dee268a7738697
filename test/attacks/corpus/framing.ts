import { type Attack, answered, call, dropped, fromBoth, ignored, rejected } from '../attack.ts'
import { common, head } from '../raw.ts'
import { request, routing } from '../sender.ts'

const invalidRequest = { http: rejected(-32600, 'invalid_request', { status: 400 }), stdio: rejected(-32600, 'invalid_request') }
const invalidJson = {
  http: rejected(-32700, 'invalid_json', { status: 400, id: null }),
  stdio: rejected(-32700, 'invalid_json', { id: null }),
}
const unrepresentableId = {
  http: rejected(-32600, 'invalid_request', { status: 400, id: null }),
  stdio: rejected(-32600, 'invalid_request', { id: null }),
}

const json = (value: unknown) => (): string => JSON.stringify(value)
const ping = { jsonrpc: '2.0', method: 'ping' }

/** Section A: invalid JSON, invalid messages, and messages that this server does not support. */
export const framing: readonly Attack[] = [
  {
    id: 'AT-A01',
    what: 'truncated JSON',
    over: 'both',
    as: 'session',
    send: { body: () => '{"jsonrpc":"2.0",' },
    expect: invalidJson,
  },
  { id: 'AT-A02-empty', what: 'an empty body', over: 'http', as: 'stranger', send: { body: () => '' }, expect: invalidJson.http },
  {
    id: 'AT-A02-blank',
    what: 'a blank body',
    over: 'http',
    as: 'stranger',
    send: { body: () => ' \n\t ' },
    expect: invalidJson.http,
  },
  { id: 'AT-A02-line', what: 'a blank line', over: 'stdio', as: 'session', send: { body: () => ' \t ' }, expect: ignored },
  ...Object.entries({ none: undefined, text: '1.0', number: 2 }).map(
    ([form, jsonrpc]): Attack => ({
      id: `AT-A03-${form}`,
      what: `jsonrpc is ${String(jsonrpc)}`,
      over: 'both',
      as: 'session',
      send: { body: json({ ...ping, id: 31, jsonrpc }) },
      expect: {
        http: rejected(-32600, 'invalid_request', { status: 400, id: 31 }),
        stdio: rejected(-32600, 'invalid_request', { id: 31 }),
      },
    }),
  ),
  ...Object.entries({ null: null, object: {}, array: [], boolean: true, float: 1.5, huge: 1e308, nested: { id: [1] } }).map(
    ([form, id]): Attack => ({
      id: `AT-A04-${form}`,
      what: `an id that is ${JSON.stringify(id)}`,
      over: 'both',
      as: 'session',
      send: { body: json({ ...ping, id }) },
      expect: invalidRequest,
    }),
  ),
  ...Object.entries({ negative: -7, empty: '', long: 'x'.repeat(10_000), proto: '__proto__' }).map(
    ([form, id]): Attack => ({
      id: `AT-A04-${form}`,
      what: `an id that is unusual and allowed: ${form}`,
      over: 'both',
      as: 'session',
      send: { body: json({ ...ping, id }) },
      expect: answered(),
    }),
  ),
  // Such an id is parsed as another number, or as infinity.
  ...['9007199254740993', '-9007199254740993', '1e400', '-1e400'].flatMap((id, index): Attack[] => [
    ...(['session', 'stateless', 'stranger'] as const).map(
      (as): Attack => ({
        id: `AT-R09-${index + 1}-${as}`,
        what: `the id ${id}, which has no exact representation, is not echoed as another number`,
        over: 'both',
        as,
        send: {
          body: () => request(as, 'tools/call', { name: 'ping' }, 'ID').replace('"ID"', id),
          ...(as === 'stateless' && { headers: routing('tools/call', { name: 'ping' }) }),
        },
        expect: unrepresentableId,
      }),
    ),
    {
      id: `AT-R09-${index + 1}-batch`,
      what: `the id ${id} in a batch`,
      over: 'http',
      as: 'session',
      send: { body: () => `[${request('session', 'ping')},{"jsonrpc":"2.0","method":"ping","id":${id}}]` },
      expect: unrepresentableId.http,
    },
    {
      id: `AT-R09-${index + 1}-response`,
      what: `a response with the id ${id}`,
      over: 'both',
      as: 'session',
      send: { body: () => `{"jsonrpc":"2.0","id":${id},"result":{}}` },
      expect: unrepresentableId,
    },
  ]),
  {
    id: 'AT-A06-modern',
    what: 'a batch on 2026-07-28',
    over: 'http',
    as: 'stranger',
    send: {
      body: json([{ ...ping, id: 1, params: { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } } }]),
    },
    expect: rejected(-32600, 'invalid_request', { status: 400, id: null }),
  },
  { id: 'AT-A06-empty', what: 'an empty batch', over: 'both', as: 'session', send: { body: () => '[]' }, expect: invalidRequest },
  {
    id: 'AT-A06-line',
    what: 'a batch on a line',
    over: 'stdio',
    as: 'session',
    send: { body: json([ping]) },
    expect: invalidRequest.stdio,
  },
  ...[101, 20_000].map(
    (size): Attack => ({
      id: `AT-A07-${size}`,
      what: `a batch of ${size}`,
      over: 'http',
      as: 'session',
      send: { body: () => JSON.stringify(Array.from({ length: size }, (_, id) => ({ ...ping, id }))) },
      expect: rejected(-32600, 'invalid_request', { status: 400, matches: /at most 100/u }),
    }),
  ),
  {
    id: 'AT-A07-elements',
    what: 'a batch of 100,000, which exceeds the element limit',
    over: 'http',
    as: 'session',
    send: { body: () => `[${'{"jsonrpc":"2.0","method":"x"},'.repeat(100_000)}1]` },
    expect: rejected(-32602, 'arguments_too_large', { status: 400 }),
  },
  {
    id: 'AT-A05-batch',
    what: 'a batch whose requests share an id',
    over: 'http',
    as: 'session',
    send: { body: json([1, 1].map((id) => ({ ...ping, id }))) },
    expect: rejected(-32600, 'duplicate_id', { status: 400 }),
  },
  {
    id: 'AT-A08-result',
    what: 'a response without a matching request',
    over: 'both',
    as: 'session',
    send: { body: json({ jsonrpc: '2.0', id: 99, result: {} }) },
    expect: ignored,
  },
  {
    id: 'AT-A08-error',
    what: 'an error response without a matching request',
    over: 'both',
    as: 'session',
    send: { body: json({ jsonrpc: '2.0', id: '__proto__', error: { code: 1, message: 'no' } }) },
    expect: ignored,
  },
  {
    id: 'AT-A08-large',
    what: 'a response above the limits, which must not be answered either',
    over: 'stdio',
    as: 'session',
    send: { body: () => `{"jsonrpc":"2.0","id":99,"result":{"a":[${'0,'.repeat(200_000)}0]}}` },
    expect: ignored,
  },
  {
    id: 'AT-A08-stranger',
    what: 'a response without a session',
    over: 'http',
    as: 'stranger',
    send: { body: json({ jsonrpc: '2.0', id: 99, result: {} }) },
    expect: rejected(-32000, 'session_not_found', { status: 400 }),
  },
  ...Object.entries({
    crlf: '{"jsonrpc":"2.0","id":"crlf","method":"ping"}\r',
    bom: '\ufeff{"jsonrpc":"2.0","id":"bom","method":"ping"}',
    blanks: '  {"jsonrpc":"2.0","id":"blanks","method":"ping"}\t ',
  }).map(
    ([form, line]): Attack => ({
      id: `AT-A11-${form}`,
      what: `a message framed with ${form}`,
      over: 'both',
      as: 'session',
      send: { body: () => line },
      expect: answered(),
    }),
  ),
  {
    id: 'AT-A12',
    what: 'a line of 11 MiB, and then the next',
    over: 'stdio',
    as: 'session',
    send: { body: () => 'x'.repeat(11 * 1024 * 1024) },
    expect: rejected(-32600, 'body_too_large', { id: null }),
  },
  {
    id: 'AT-A14-utf8',
    what: 'invalid UTF-8 in an argument',
    over: 'both',
    as: 'session',
    send: {
      body: () =>
        Buffer.concat([
          Buffer.from('{"jsonrpc":"2.0","id":41,"method":"tools/call","params":{"name":"echo","arguments":{"a":"'),
          Buffer.from([0xff, 0xc0, 0x80]),
          Buffer.from('"}}}'),
        ]),
    },
    expect: invalidJson,
  },
  ...fromBoth({
    id: 'AT-A14-infinite',
    what: 'a number that overflows to Infinity and would become null',
    over: 'http',
    send: {
      body: () => '{"jsonrpc":"2.0","id":42,"method":"tools/call","params":{"name":"echo","arguments":{"a":[-1e400]}}}',
    },
    expect: rejected(-32_600, 'invalid_request', { status: 400 }),
  }),
  {
    id: 'AT-A14-surrogate',
    what: 'a lone surrogate and NUL, which are valid in JSON',
    over: 'both',
    as: 'session',
    send: call('echo', { a: '\ud800\u0000' }),
    expect: answered(/\\ud800\\u0000/u),
  },
  ...['rpc.discover', '__proto__', 'tools/call/', 'x'.repeat(8_000), ''].flatMap((method, index): Attack[] => [
    {
      id: `AT-A15-${index}-session`,
      what: `the method "${method.slice(0, 20)}"`,
      over: 'both',
      as: 'session',
      send: { method },
      expect: rejected(-32601),
    },
    {
      id: `AT-A15-${index}-stateless`,
      what: `the method "${method.slice(0, 20)}"`,
      over: 'both',
      as: 'stateless',
      send: { method },
      // A header cannot be empty, so an empty one counts as missing.
      expect: { http: method === '' ? rejected(-32020) : rejected(-32601, undefined, { status: 404 }), stdio: rejected(-32601) },
    },
  ]),
  {
    id: 'AT-A16-notification',
    what: 'a notification before any session',
    over: 'http',
    as: 'stranger',
    send: { body: json({ jsonrpc: '2.0', method: 'notifications/initialized' }) },
    expect: rejected(-32000, 'session_not_found', { status: 400 }),
  },
  {
    id: 'AT-A16-request',
    what: 'a request before any session',
    over: 'http',
    as: 'stranger',
    send: { method: 'tools/list' },
    expect: rejected(-32000, 'session_not_found', { status: 400 }),
  },
  {
    id: 'AT-A16-initialize',
    what: 'an initialize without required params',
    over: 'both',
    as: 'stranger',
    send: { method: 'initialize', params: { protocolVersion: 5 } },
    expect: rejected(-32602, 'invalid_params'),
  },
  {
    id: 'AT-A16-accept',
    what: 'an initialize that accepts no stream, which must leave no session behind',
    over: 'http',
    as: 'stranger',
    send: {
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
      headers: { accept: 'application/json' },
    },
    expect: rejected(-32000, undefined, { status: 406 }),
  },
  {
    id: 'AT-A17',
    what: 'a second initialize in the same session',
    over: 'http',
    as: 'session',
    send: {
      method: 'initialize',
      params: { protocolVersion: '2025-03-26', capabilities: { roots: {} }, clientInfo: { name: 'x', version: '1' } },
    },
    expect: rejected(-32600, undefined, { status: 400 }),
  },
  ...['protocolVersion', 'clientCapabilities'].map(
    (part): Attack => ({
      id: `AT-A18-${part}`,
      what: `a request of 2026-07-28 without ${part}`,
      over: 'http',
      as: 'stateless',
      send: { method: 'tools/list', params: { _meta: { [`io.modelcontextprotocol/${part}`]: undefined } } },
      expect: rejected(-32602, 'invalid_params', { status: 400 }),
    }),
  ),
  {
    id: 'AT-A18-version',
    what: 'a request with an unknown revision',
    over: 'http',
    as: 'stateless',
    send: {
      method: 'tools/list',
      params: { _meta: { 'io.modelcontextprotocol/protocolVersion': '2099-01-01' } },
      headers: { 'mcp-protocol-version': '2099-01-01' },
    },
    expect: rejected(-32022, undefined, { status: 400 }),
  },
  ...Object.entries({
    method: { 'mcp-method': 'tools/call' },
    version: { 'mcp-protocol-version': '2025-11-25' },
  }).map(
    ([form, headers]): Attack => ({
      id: `AT-F74-${form}`,
      what: `a ${form} in the headers that the body contradicts`,
      over: 'http',
      as: 'stateless',
      send: { method: 'tools/list', headers },
      expect: rejected(-32020, 'header_mismatch', { status: 400 }),
    }),
  ),
  ...Object.entries({ other: 'echo', none: '' }).map(
    ([form, name]): Attack => ({
      id: `AT-F74-name-${form}`,
      what: `a tool in the headers that is ${form} than in the body`,
      over: 'http',
      as: 'stateless',
      send: { ...call('ping'), headers: { 'mcp-name': name } },
      expect: rejected(-32020, undefined, { status: 400 }),
    }),
  ),
  {
    id: 'AT-A02-type',
    what: 'a body without a JSON content type',
    over: 'http',
    as: 'stranger',
    send: { body: () => '{}', headers: { 'content-type': 'text/plain' } },
    expect: rejected(-32000, 'unsupported_media_type', { status: 415 }),
  },
  ...['PUT', 'PATCH', 'TRACE', 'OPTIONS', 'PROPFIND'].map(
    (method): Attack => ({
      id: `AT-F76-${method.toLowerCase()}`,
      what: `the HTTP method ${method}`,
      over: 'http',
      as: 'stranger',
      send: { bytes: () => [{ bytes: head(method, '/mcp', common) }] },
      expect: rejected(-32000, 'unsupported_method', { status: 405 }),
    }),
  ),
  ...Object.entries({
    lengths: 'POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    twice: 'POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello!',
    negative: 'POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: -1\r\n\r\n',
    newline: 'POST /mcp HTTP/1.1\nhost: 127.0.0.1\n\n',
    noise: '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  }).map(
    ([form, bytes]): Attack => ({
      id: `AT-F65-${form}`,
      what: `invalid HTTP: ${form}`,
      over: 'http',
      as: 'stranger',
      send: { bytes: () => [{ bytes }] },
      expect: dropped(400),
    }),
  ),
]
