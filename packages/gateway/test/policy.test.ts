import { expect, test } from 'vitest'
import { until } from '../../client/test/processes.ts'
import { createToken } from '../src/config/tokens.ts'
import { served } from './served.ts'
import { server } from './upstreams.ts'

const tools = [
  { name: 'fetch', description: 'Fetches a page', annotations: { readOnlyHint: true } },
  { name: 'erase', description: 'Erases a page' },
  { name: 'list', description: 'Lists pages', annotations: { readOnlyHint: true } },
]
const web = { ...server('plain.mjs', JSON.stringify({ tools })), trust: 'off' }

test('AT-S06-7 (Q02): no spelling of a URL gets past the hosts of a rule', async () => {
  const rules = [
    { effect: 'allow', tool: 'fetch', host: { argument: 'url', in: ['good.example', '*.good.example'] } },
    { effect: 'deny', tool: 'fetch', reason: 'Another host.' },
  ]
  await using gateway = await served({ mcpServers: { web }, exposure: 'everything', policy: { rules } })
  await gateway.ready('web')
  await using client = await gateway.connect()
  const fetched = async (url: unknown) => JSON.stringify((await client.call('web__fetch', { url })).content)
  for (const url of ['https://good.example/a', 'http://api.good.example:8080/?x=http://evil.example'])
    expect(await fetched(url)).toContain('fetch {')
  const evasions = [
    ...[
      'http://evil.example',
      'http://good.example@evil.example/',
      'http://good.example\\@evil.example/',
      'http:\\\\evil.example/good.example',
    ],
    ...[
      'http://evil.example#.good.example',
      'http://evil.example/.good.example',
      'http://good.example.evil.example',
      'http://evilgood.example',
    ],
    ...[
      'http://good.example%2eevil.example',
      'http://evil.example／.good.example',
      'http://2130706433/',
      'http://0177.0.0.1/',
      'http://127.1/',
    ],
    ...[
      'http://[::ffff:127.0.0.1]/',
      'http://gооd.example/',
      'http://good.example\u0000.evil.example',
      'http:good.example',
      '',
      7,
      null,
    ],
    ...[['https://good.example/a', 'http://evil.example'], [], { url: 'https://good.example' }, ' https://good.example'],
  ]
  for (const url of evasions)
    expect({ url, text: await fetched(url) }).toEqual({ url, text: expect.stringContaining('was not called') })
  // An argument that only looks like the one of the rule.
  expect(JSON.stringify((await client.call('web__fetch', { URL: 'https://good.example' })).content)).toContain('was not called')
})

test('AT-S06-8 (Q05): each token has its rules; a tool that it can never call does not exist for it, and follows its annotations', async () => {
  const [ci, dev] = [createToken('ci', 'small'), createToken('dev')]
  const rules = [
    { effect: 'deny', token: 'ci', annotations: { destructive: true } },
    { effect: 'deny', profile: 'small', tool: 'fetch', arguments: { required: ['force'] } },
  ]
  const config = { tokens: [ci.record, dev.record], profiles: { small: {} }, exposure: 'everything', policy: { rules } }
  await using gateway = await served({ mcpServers: { web }, ...config })
  await gateway.ready('web')
  await using limited = await gateway.connect('', { token: ci.token })
  await using alone = await gateway.connect('/s/web', { token: ci.token, era: 'stateless' })
  await using free = await gateway.connect('', { token: dev.token })
  expect((await limited.toolNames()).filter((name) => name.startsWith('web__'))).toEqual(['web__fetch', 'web__list'])
  expect(await alone.toolNames()).not.toContain('erase')
  expect(await free.toolNames()).toContain('web__erase')
  const unknown = await limited.call('web__missing', {}).catch((error: unknown) => String(error))
  const hidden = await limited.call('web__erase', {}).catch((error: unknown) => String(error))
  expect(JSON.stringify(hidden).replaceAll('web__erase', 'X')).toBe(JSON.stringify(unknown).replaceAll('web__missing', 'X'))
  expect(JSON.stringify(await limited.call('web__fetch', { force: true }))).toContain('policy.rules[1] denies it')
  expect(JSON.stringify(await limited.call('web__fetch', {}))).toContain('fetch {}')
  expect(JSON.stringify(await free.call('web__fetch', { force: true }))).toContain('fetch {')
  const changed = tools.map((tool) => (tool.name === 'list' ? { ...tool, annotations: { destructiveHint: true } } : tool))
  await gateway.gateway.upstreams.call('web', 'fetch', { become: changed })
  await until(async () => !(await limited.toolNames()).includes('web__list'), 'the tool is hidden')
  expect(await free.toolNames()).toContain('web__list')
})
