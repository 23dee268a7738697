import { type Attack, answered, call, failed, fromBoth, rejected, type Sent } from '../attack.ts'

const badCall = (form: string, params: Record<string, unknown> | undefined): readonly Attack[] =>
  fromBoth({
    id: `AT-T01-${form}`,
    what: `a call whose params are ${JSON.stringify(params)}`,
    over: 'both',
    send: { method: 'tools/call', ...(params !== undefined && { params }) },
    expect: rejected(-32602, 'invalid_params', { matches: /^Invalid /u }),
  })

const unknown = (form: string, name: string, args?: Record<string, unknown>): readonly Attack[] =>
  fromBoth({
    id: `AT-T02-${form}`,
    what: `a call of "${name.slice(0, 20)}"`,
    over: 'both',
    send: call(name, args),
    expect: rejected(-32602, 'unknown_tool', { matches: /not found/u }),
  })

const inSession = (id: Attack['id'], what: string, send: Sent, expect: Attack['expect']): Attack => ({
  id,
  what,
  over: 'both',
  as: 'session',
  send,
  expect,
})

const throwing: Record<string, RegExp> = {
  error: /^It broke$/u,
  string: /^It broke$/u,
  undefined: /failed without a message/u,
  null: /failed without a message/u,
  symbol: /It broke/u,
  bare: /failed without a message/u,
  huge: /^(It broke ){1000,1200}.{0,9}…$/u,
  numeric: /^5$/u,
  trap: /failed without a message/u,
}

const garbage = [
  'function',
  'bigint',
  'symbol',
  'cyclic',
  'object_bigint',
  'mixed_array',
  'date',
  'content_bigint',
  'content_cyclic',
  'content_function',
  'block_without_text',
  'block_of_no_type',
  'block_image_without_data',
  'structured_bigint',
  'is_error_text',
  'meta_text',
  'to_json_throws',
]

/** Invalid calls, and failures in the called tool. */
export const tools: readonly Attack[] = [
  ...badCall('params', undefined),
  ...fromBoth({
    id: 'AT-I118',
    what: 'a trace header of 10 KB',
    over: 'both',
    send: {
      method: 'tools/call',
      params: { name: 'ping', _meta: { traceparent: 'x'.repeat(10_000), tracestate: '\n', baggage: 'a=b,'.repeat(2_500) } },
    },
    expect: answered(/pong/u),
  }),
  ...[5, null, [], { progressToken: {} }, { progressToken: null }].map(
    (_meta, index): Attack => ({
      id: `AT-T01-meta-${index}`,
      what: `a call whose _meta is ${JSON.stringify(_meta)}`,
      over: 'both',
      as: 'session',
      send: { method: 'tools/call', params: { name: 'ping', _meta } },
      expect: rejected(-32600, 'invalid_request'),
    }),
  ),
  ...badCall('empty', {}),
  ...badCall('number', { name: 5 }),
  ...badCall('null', { name: null }),
  ...badCall('list', { name: ['ping'] }),
  ...badCall('arguments-null', { name: 'ping', arguments: null }),
  ...badCall('arguments-list', { name: 'ping', arguments: [] }),
  ...badCall('arguments-text', { name: 'ping', arguments: 'x' }),
  ...['null', '[]', '5', '"x"'].map(
    (params): Attack => ({
      id: `AT-T01-${params}`,
      what: `a call whose params are ${params}`,
      over: 'both',
      as: 'session',
      send: { body: () => `{"jsonrpc":"2.0","id":61,"method":"tools/call","params":${params}}` },
      expect: rejected(-32600, 'invalid_request', { id: 61 }),
    }),
  ),
  ...fromBoth({
    id: 'AT-T01-none',
    what: 'a call without arguments',
    over: 'both',
    send: call('ping'),
    expect: answered(/pong/u),
  }),
  ...unknown('plain', 'pingg'),
  ...unknown('empty', ''),
  ...unknown('proto', '__proto__'),
  ...unknown('constructor', 'constructor'),
  ...unknown('long', 'x'.repeat(4_000)),
  {
    id: 'AT-T02-control',
    what: 'a name with control characters, which are escaped in the reply',
    over: 'both',
    as: 'session',
    send: call('\u001b[2J\u202e\u0000'),
    expect: rejected(-32602, 'unknown_tool', { matches: /\\u\{1b\}\[2J\\u\{202e\}\\u\{0\}/u }),
  },
  inSession('AT-T02-hidden', 'a tool of a group that is not open', call('chess'), rejected(-32602, 'unknown_tool')),
  inSession(
    'AT-T03-group',
    'a group that does not exist',
    call('deactivate', { group: 'nope' }),
    failed('unknown_group', /Groups: files/u),
  ),
  inSession('AT-T03-proto', 'a group called __proto__', call('deactivate', { group: '__proto__' }), failed('unknown_group')),
  inSession(
    'AT-T03-type',
    'a group that is not a string',
    call('deactivate', { group: {} }),
    failed('invalid_arguments', /group: must be one of/u),
  ),
  inSession('AT-T03-none', 'no group', call('deactivate'), failed('invalid_arguments')),
  inSession(
    'AT-T04',
    'a child before its parent',
    call('activate_aws'),
    failed('group_inactive', /Call 'activate_cloud' first/u),
  ),
  inSession('AT-T05-1', 'a first group', call('activate_files'), answered(/read_file/u)),
  inSession('AT-T05-2', 'a second group', call('activate_cloud'), answered(/activate_aws/u)),
  inSession(
    'AT-T05-3',
    'a third of two groups',
    call('activate_games'),
    failed('quota_full', /Deactivate one of: files, cloud/u),
  ),
  ...fromBoth({
    id: 'AT-T06-zod',
    what: 'arguments with four problems',
    over: 'both',
    send: call('measure', { size: 1.5, tags: [1, 'x', 2] }),
    expect: failed('invalid_arguments', /name: .*\n- size: .*\n- tags\.0: .*\n- tags\.2: .*\nCorrect them and call again/u),
  }),
  ...fromBoth({
    id: 'AT-T06-schema',
    what: 'arguments with four problems, by JSON Schema',
    over: 'both',
    send: call('weigh', { size: 'x', unit: 'lb', 'a/b~c': 1 }),
    expect: failed('invalid_arguments', /'name'\n.*"a\/b~c"\n- size: .*\n- unit: must be one of "g", "kg"\n/u),
  }),
  ...fromBoth({
    id: 'AT-T06-many',
    what: 'arguments with 60 problems',
    over: 'both',
    send: call('measure', { name: 'x', size: 1, tags: Array.from({ length: 60 }, (_, index) => index) }),
    expect: failed('invalid_arguments', /and 10 more/u),
  }),
  ...['{"__proto__":{"polluted":1}}', '{"constructor":{"prototype":{"polluted":1}}}', '{"a":{"__proto__":{"polluted":1}}}'].map(
    (args, index): Attack => ({
      id: `AT-T07-${index}`,
      what: `the arguments ${args}`,
      over: 'both',
      as: 'session',
      send: {
        body: () => `{"jsonrpc":"2.0","id":"proto ${index}","method":"tools/call","params":{"name":"echo","arguments":${args}}}`,
      },
      expect: answered(),
    }),
  ),
  {
    id: 'AT-T07-params',
    what: 'params whose name is in their prototype',
    over: 'both',
    as: 'session',
    send: { body: () => '{"jsonrpc":"2.0","id":62,"method":"tools/call","params":{"__proto__":{"name":"ping"}}}' },
    expect: rejected(-32602, 'invalid_params', { id: 62 }),
  },
  ...Object.entries(throwing).flatMap(([form, matches]) =>
    fromBoth({
      id: `AT-T08-${form}`,
      what: `a handler that throws: ${form}`,
      over: 'both',
      send: call(`throw_${form}`),
      expect: failed('tool_failed', matches),
    }),
  ),
  ...fromBoth({
    id: 'AT-T08-protocol',
    what: 'a handler that throws a protocol error with data that JSON cannot represent',
    over: 'both',
    send: call('throw_protocol'),
    expect: rejected(-32_050),
  }),
  ...garbage.flatMap((form) =>
    fromBoth({
      id: `AT-T09-${form}`,
      what: `a handler that returns an invalid value: ${form}`,
      over: 'both',
      send: call(`give_${form}`),
      expect: failed('invalid_result', /Its author must fix this/u),
    }),
  ),
  ...fromBoth({
    id: 'AT-T09-proxy',
    what: 'a handler that returns an object which throws on every access',
    over: 'both',
    send: call('give_proxy'),
    expect: failed('tool_failed'),
  }),
  ...fromBoth({
    id: 'AT-T09-50mb',
    what: 'a handler that returns 50 MB',
    over: 'both',
    send: call('give_50mb'),
    expect: answered(/^x{100}/u),
  }),
  ...fromBoth({
    id: 'AT-T10-hangs',
    what: 'a handler that never ends',
    over: 'both',
    send: call('hang'),
    expect: failed('tool_timeout', /try again later/u),
  }),
  ...fromBoth({
    id: 'AT-T10-late',
    what: 'a handler that throws after its timeout',
    over: 'both',
    send: call('reject_late'),
    expect: failed('tool_timeout'),
  }),
  ...Object.entries({ garbage: 'garbage', long: 'x'.repeat(1_000_000), proto: '__proto__', negative: '-1.0' }).map(
    ([form, cursor]): Attack => ({
      id: `AT-T11-${form}`,
      what: `a cursor that is ${form}`,
      over: 'both',
      as: 'session',
      send: { method: 'tools/list', params: { cursor } },
      expect: rejected(-32602, 'invalid_cursor', { matches: /List again without a cursor/u }),
    }),
  ),
  ...fromBoth({
    id: 'AT-T11-stale',
    what: 'a cursor of another list',
    over: 'both',
    send: { method: 'tools/list', params: { cursor: `1.${'0'.repeat(32)}` } },
    expect: rejected(-32602, 'stale_cursor', { matches: /List again without a cursor/u }),
  }),
  ...[5, null, {}, ['a']].flatMap((cursor, index) =>
    fromBoth({
      id: `AT-T11-type-${index}`,
      what: `a cursor that is ${JSON.stringify(cursor)}`,
      over: 'both',
      send: { method: 'tools/list', params: { cursor } },
      expect: rejected(-32602, 'invalid_params'),
    }),
  ),
]
