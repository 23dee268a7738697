import { type Attack, answered, call, dropped, rejected } from '../attack.ts'
import type { Headers } from '../raw.ts'

const listed = (id: Attack['id'], what: string, headers: Headers, expect: Attack['expect']): Attack => ({
  id,
  what,
  over: 'http',
  as: 'stateless',
  send: { method: 'tools/list', headers },
  expect,
})

const host = (form: string, name: string, expect = rejected(-32000, 'forbidden_host', { status: 403 })): Attack =>
  listed(`AT-F75-host-${form}`, `the host "${name}"`, { host: name }, expect)

const origin = (form: string, name: string): Attack =>
  listed(`AT-F75-origin-${form}`, `the origin "${name}"`, { origin: name }, rejected(-32000, 'forbidden_origin', { status: 403 }))

const view = (form: string, query: string): Attack => ({
  id: `AT-T12-${form}`,
  what: `the URL ?${query.slice(0, 40)}`,
  over: 'http',
  as: 'stateless',
  send: { method: 'tools/list', query },
  expect: rejected(-32602, 'invalid_view', { status: 400, matches: /^Unknown \w+ "|more than one value|groups that cannot/u }),
})

const routed = (form: string, args: Record<string, unknown>, headers: Headers, expect: Attack['expect']): Attack => ({
  id: `AT-F74-param-${form}`,
  what: `arguments ${JSON.stringify(args)} with headers ${JSON.stringify(headers)}`,
  over: 'http',
  as: 'stateless',
  send: { ...call('route', args), headers },
  expect,
})

const mismatch = rejected(-32020, 'header_mismatch', { status: 400 })

/** Section F for a single server: caller, host name and path. */
export const edge: readonly Attack[] = [
  host('evil', 'evil.example'),
  host('user', '127.0.0.1@evil.example'),
  host('suffix', '127.0.0.1.evil.example'),
  host('dot', 'localhost.'),
  host('bracket', '['),
  host('escape', 'evil\u00ff.example'),
  listed('AT-F75-host-none', 'no host', { host: '' }, dropped(400)),
  listed('AT-F75-host-port', 'another port', { host: '127.0.0.1:1' }, answered()),
  origin('evil', 'http://evil.example'),
  origin('null', 'null'),
  origin('prefix', 'http://localhost.evil.example'),
  origin('user', 'http://localhost@evil.example'),
  origin('file', 'file://'),
  origin('extension', 'chrome-extension://abcdef'),
  origin('two', 'http://localhost, http://evil.example'),
  origin('noise', '\u00ff\u00fe'),
  ...Object.entries({
    unknown: '00000000-0000-4000-8000-000000000000',
    proto: '__proto__',
    long: 'x'.repeat(8_000),
    two: 'a, b',
  }).map(
    ([form, id]): Attack => ({
      id: `AT-F66-${form}`,
      what: `an unknown session: ${form}`,
      over: 'http',
      as: 'stranger',
      send: { method: 'tools/list', headers: { 'mcp-session-id': id } },
      expect: rejected(-32001, 'session_not_found', { status: 404, matches: /Send "initialize" again/u }),
    }),
  ),
  view('group', 'groups=nope'),
  {
    id: 'AT-T12-group-session',
    what: 'a new session with the URL ?groups=nope',
    over: 'http',
    as: 'stranger',
    send: {
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
      query: 'groups=nope',
    },
    expect: rejected(-32602, 'invalid_view', { status: 400 }),
  },
  view('group-proto', 'groups=__proto__'),
  view('group-constructor', 'groups=constructor'),
  view('group-escape', 'groups=%E0%A4'),
  view('group-many', `groups=${'a,'.repeat(5_000)}`),
  view('tag', 'tags=nope'),
  view('tag-proto', 'tags=__proto__'),
  view('version', 'versions=ping@2'),
  view('version-proto', 'versions=__proto__@1'),
  view('version-constructor', 'versions=constructor@1'),
  view('version-form', 'versions=ping'),
  view('version-twice', 'versions=ping@1,ping@2'),
  view('exposure', 'exposure=nothing'),
  view('exposure-twice', 'exposure=groups&exposure=everything'),
  view('flag', 'readOnly=maybe'),
  view('flag-twice', 'readOnly=false&readOnly=true'),
  {
    id: 'AT-T12-huge',
    what: 'a URL of 100 KB',
    over: 'http',
    as: 'stateless',
    send: { method: 'tools/list', query: `groups=${'a,'.repeat(50_000)}` },
    expect: dropped(431),
  },
  {
    id: 'AT-T12-quota',
    what: 'a URL with more groups than the quota allows',
    over: 'http',
    as: 'stateless',
    send: { method: 'tools/list', query: 'groups=aws,games,files' },
    expect: rejected(-32602, 'invalid_view', { status: 400, matches: /2 groups at a time/u }),
  },
  {
    id: 'AT-T12-repeated',
    what: 'groups in two parameters, which are combined',
    over: 'http',
    as: 'stateless',
    send: { method: 'tools/list', query: 'groups=files&groups=games,files' },
    expect: answered(/read_file.*chess|chess.*read_file/u),
  },
  {
    id: 'AT-T12-other',
    what: 'an unknown parameter',
    over: 'http',
    as: 'stateless',
    send: { method: 'tools/list', query: '__proto__=1&constructor=2&token=%00' },
    expect: answered(),
  },
  {
    id: 'AT-T13-path',
    what: 'another path',
    over: 'http',
    as: 'stranger',
    send: { bytes: () => [{ bytes: 'POST /mcp/../admin HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 0\r\n\r\n' }] },
    expect: rejected(-32000, 'unknown_path', { status: 404, matches: /connect to \/mcp/u }),
  },
  {
    id: 'AT-T13-absolute',
    what: 'an absolute URL as the path',
    over: 'http',
    as: 'stranger',
    send: { bytes: () => [{ bytes: 'GET http://evil.example/mcp HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n' }] },
    expect: rejected(-32000, 'unknown_path', { status: 404 }),
  },
  routed('missing', { region: 'eu' }, {}, mismatch),
  routed('differs', { region: 'eu' }, { 'mcp-param-region': 'us' }, mismatch),
  routed('case', { region: 'eu' }, { 'mcp-param-region': 'EU' }, mismatch),
  routed('base64', { region: 'eu' }, { 'mcp-param-region': '=?base64?!!!?=' }, mismatch),
  routed('base64-utf8', { region: 'eu' }, { 'mcp-param-region': '=?base64?/w==?=' }, mismatch),
  routed('twice', { region: 'eu' }, { 'mcp-param-region': 'eu, eu' }, mismatch),
  routed(
    'integer',
    { region: 'eu', options: { retries: 3 } },
    { 'mcp-param-region': 'eu', 'mcp-param-retries': '0x3' },
    mismatch,
  ),
  routed('encoded', { region: 'é' }, { 'mcp-param-region': '=?base64?w6k=?=' }, answered(/via é/u)),
  routed('proto', JSON.parse('{"__proto__":{"region":"eu"}}') as Record<string, unknown>, {}, answered(/via undefined/u)),
  {
    id: 'AT-F74-param-alias',
    what: 'a tool called by its former name, without its required headers',
    over: 'http',
    as: 'stateless',
    send: call('old_route', { region: 'eu' }),
    expect: mismatch,
  },
  {
    id: 'AT-F74-param-hidden',
    what: 'a tool with required headers outside this view, which must look unknown',
    over: 'http',
    as: 'stateless',
    send: { ...call('hidden_route', { region: 'eu' }), query: 'groups=games' },
    expect: rejected(-32602, 'unknown_tool', { status: 200 }),
  },
]
