import { expect, test } from 'vitest'
import { parseConfig } from '../read.ts'

const base = { mcpServers: { files: { command: 'files' } }, tokens: [{ name: 'ci', hash: `sha256:${'0'.repeat(64)}` }] }

/** Problems of a configuration with one rule, as `line:column path message`. */
function problems(rule: unknown, policy: object = {}): readonly string[] {
  const text = JSON.stringify({ ...base, policy: { rules: [rule], ...policy } }, undefined, 1)
  try {
    parseConfig(text, { file: 'unfold.json', environment: { DATA: '/srv/data' } })
    return []
  } catch (error) {
    return String(error instanceof Error ? error.message : error).split('\n')
  }
}

test.each<[string, unknown, string]>([
  ['effect', { effect: 'block' }, 'policy.rules[0].effect must be one of "allow", "deny", "ask", not "block".'],
  ['missing effect', { tool: 'a' }, 'policy.rules[0].effect'],
  ['unknown key', { effect: 'deny', tools: 'a' }, 'policy.rules[0].tools is not a known key. Did you mean "tool"?'],
  [
    'unknown server',
    { effect: 'deny', server: 'fiels' },
    'policy.rules[0].server refers to the server "fiels", which is not defined. Did you mean "files"?',
  ],
  [
    'unknown token in a list',
    { effect: 'deny', token: ['ci', 'cd'] },
    'policy.rules[0].token[1] refers to the client token "cd"',
  ],
  ['unknown profile', { effect: 'deny', profile: 'x' }, 'policy.rules[0].profile refers to the profile "x"'],
  ['type', { effect: 'deny', tool: 7 }, 'policy.rules[0].tool must be a string or an array, not 7.'],
  [
    'keyword',
    { effect: 'allow', arguments: { propertys: {} } },
    'policy.rules[0].arguments.propertys is not a known key. Did you mean "properties"?',
  ],
  [
    'nested keyword',
    { effect: 'allow', arguments: { properties: { a: { patern: 'x' } } } },
    'policy.rules[0].arguments.properties.a.patern is not a known key. Did you mean "pattern"?',
  ],
  [
    'format, which is not checked',
    { effect: 'allow', arguments: { format: 'uri' } },
    'policy.rules[0].arguments.format is not a known key.',
  ],
  [
    'reference',
    { effect: 'allow', arguments: { $ref: 'https://example.com' } },
    'policy.rules[0].arguments.$ref is not a known key.',
  ],
  [
    'limit that is not a number',
    { effect: 'allow', arguments: { maximum: '5' } },
    'policy.rules[0].arguments.maximum must be a number, not a string.',
  ],
  [
    'invalid pattern',
    { effect: 'allow', arguments: { pattern: '(' } },
    'policy.rules[0].arguments.pattern is not a valid regular expression',
  ],
  [
    'catastrophic pattern',
    { effect: 'allow', arguments: { pattern: '^(a+)+$' } },
    'policy.rules[0].arguments.pattern takes too long for some texts.',
  ],
  [
    'catastrophic alternatives',
    { effect: 'allow', arguments: { pattern: '^(\\d|\\d\\d)+$' } },
    'policy.rules[0].arguments.pattern takes too long for some texts.',
  ],
  [
    'neither inside nor outside',
    { effect: 'allow', path: { argument: 'path' } },
    'policy.rules[0].path needs either "inside" or "outside".',
  ],
  [
    'in and notIn',
    { effect: 'allow', host: { argument: 'a', in: ['a'], notIn: ['b'] } },
    'policy.rules[0].host needs either "in" or "notIn".',
  ],
  [
    'URL as a host',
    { effect: 'allow', host: { argument: 'url', in: ['https://example.com'] } },
    'policy.rules[0].host.in[0] must be a host name',
  ],
  [
    'host with a port',
    { effect: 'allow', host: { argument: 'url', in: ['example.com:80'] } },
    'policy.rules[0].host.in[0] must be a host name',
  ],
  [
    'unusual address',
    { effect: 'allow', host: { argument: 'url', in: ['0x7f000001'] } },
    'policy.rules[0].host.in[0] must be a host name',
  ],
  [
    'variable that is not set',
    { effect: 'allow', path: { argument: 'path', inside: [`\${NOTHING}`] } },
    'policy.rules[0].path.inside[0]',
  ],
])('a wrong rule is reported with its location: %s', (_, rule, expected) => {
  const [problem = '', ...others] = problems(rule)
  expect(problem).toMatch(/^unfold\.json:\d+:\d+:? /u)
  expect(problem.replace(/^\S+ /u, '')).toContain(expected)
  expect(others).toEqual([])
  expect(Number(/:(\d+):/u.exec(problem)?.[1])).toBeGreaterThan(1)
})

test('everything that a rule can contain is accepted', () => {
  const schema = {
    type: 'object',
    properties: { a: { pattern: '^(?:[a-z]+/)*[a-z]+$' }, b: false },
    additionalProperties: true,
    not: { required: ['c'] },
  }
  const rule = {
    effect: 'ask',
    reason: 'because',
    server: ['files', 'web*'],
    tool: '*',
    token: 'ci',
    annotations: { readOnly: false },
    arguments: schema,
    path: { argument: ['path'], inside: [`\${DATA}`, '~/x'], relativeTo: '.' },
    host: { argument: 'url', notIn: ['localhost', '*.internal', '10.0.0.0/8', '::1', 'bücher.example'] },
  }
  expect(problems(rule, { default: 'deny' })).toEqual([])
})

test('variables in folders are expanded', () => {
  const rules = [{ effect: 'allow', path: { argument: 'path', outside: [`\${DATA}/a`] } }]
  const { config } = parseConfig(JSON.stringify({ policy: { rules } }), { file: 'unfold.json', environment: { DATA: '/srv' } })
  expect(config.policy?.rules[0]?.path?.outside).toEqual(['/srv/a'])
})
