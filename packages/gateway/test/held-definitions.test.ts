import { expect, test } from 'vitest'
import { until } from '../../client/test/processes.ts'
import type { ReviewItem } from '../src/admin/review.ts'
import { eras } from './composition.ts'
import { hostile, rawClient } from './hostile.ts'
import { served } from './served.ts'

type Request = readonly [method: string, params: { readonly [key: string]: unknown }]

const call = (name: string, args: object = {}): Request => ['tools/call', { name, arguments: args }]
const complete = (ref: object): Request => ['completion/complete', { ref, argument: { name: 'x', value: '' } }]

const shed = hostile({
  title: 'Shed',
  tools: [
    { name: 'sing', description: 'A bird that sings songs' },
    { name: 'canary_tool', description: 'A canary that sings songs' },
  ],
  prompts: [{ name: 'greet' }, { name: 'canary_prompt', description: 'Canary', arguments: [{ name: 'canary' }] }],
  resources: [{ uri: 'memo://shared', name: 'shared' }],
  templates: [{ uriTemplate: 'canary://{id}', name: 'canary' }],
})
const held = hostile({
  title: 'Canary',
  instructions: 'The canary sings.',
  tools: ['canary'],
  resources: [{ uri: 'memo://canary', name: 'canary' }],
})

/** Requests that could reveal a held definition without naming it. */
const reads: readonly Request[] = [
  ['server/discover', {}],
  ['tools/list', {}],
  ['tools/describe', { name: 'shed__canari_tool' }],
  ['server/identity', {}],
  ['io.github.unfold-mcp/changes', { since: 'none' }],
  ['prompts/list', {}],
  ['prompts/get', { name: 'shed__canari_prompt' }],
  ['resources/list', {}],
  ['resources/templates/list', {}],
  ['resources/read', { uri: 'memo://shared' }],
  complete({ type: 'ref/prompt', name: 'shed__greet' }),
  call('search_tools', { query: 'bird that sings songs' }),
  call('search_tools', { query: '' }),
  call('describe_tools', { names: ['shed__sing'] }),
  call('describe_tools', { names: ['shed__canari_tool'] }),
  call('call_tool', { name: 'shed__canari_tool' }),
  call('manage_tools', { action: 'list' }),
  call('activate_shed'),
  call('activate_hold'),
  call('shed__canari_tool'),
]

/** Requests for held definitions. */
const tries: readonly Request[] = [
  call('shed__canary_tool'),
  call('call_tool', { name: 'shed__canary_tool' }),
  call('describe_tools', { names: ['shed__canary_tool'] }),
  ['tools/describe', { name: 'shed__canary_tool' }],
  ['prompts/get', { name: 'shed__canary_prompt' }],
  ['resources/read', { uri: 'canary://1' }],
  complete({ type: 'ref/prompt', name: 'shed__canary_prompt' }),
  complete({ type: 'ref/resource', uri: 'canary://{id}' }),
  call('hold__canary'),
  call('activate_hold'),
  ['resources/read', { uri: 'memo://canary' }],
  ['resources/read', { uri: 'unfold://hold/memo://canary' }],
]

/** The same text about nonexistent items. */
const invented = (text: string): string => text.replaceAll(/canary|hold/gu, (word) => 'x'.repeat(word.length))
const withoutId = (text: string): string => text.replace(/"id":\d+/u, '')

test('AT-S03-3 (T06): to clients, held tools, prompts, templates and servers do not exist, whatever the request', async () => {
  await using gateway = await served({ mcpServers: { shed, hold: held }, trust: 'review' })
  await Promise.all(['shed', 'hold'].map((name) => gateway.ready(name)))
  const review = async (): Promise<readonly ReviewItem[]> => (await gateway.api('/review')) as readonly ReviewItem[]
  const harmless = async (): Promise<readonly ReviewItem[]> =>
    (await review()).filter(({ server, name }) => server === 'shed' && !name.includes('canary'))
  await until(async () => (await harmless()).length === 2, 'the tool and the prompt are held')
  await gateway.gateway.trust.approve('shed', new Set((await harmless()).map(({ digest }) => digest)))
  expect((await review()).map(({ server, kind, name }) => `${server} ${kind} ${name}`).toSorted()).toEqual([
    'hold instructions ',
    'hold tool canary',
    'shed prompt canary_prompt',
    'shed template canary://{id}',
    'shed tool canary_tool',
  ])
  for (const era of eras)
    for (const exposure of ['groups', 'lazy', 'search', 'everything']) {
      const client = await rawClient(`${gateway.url}?exposure=${exposure}`, { era })
      expect(client.greeting).not.toMatch(/canary/iu)
      const answers = await Promise.all(reads.map(([method, params]) => client.ask(method, params)))
      for (const { text } of answers) expect(text).not.toMatch(/canary/iu)
      expect(answers.map(({ text }) => text).join('')).toContain('shed__sing')
      for (const [method, params] of tries) {
        const asked = await client.ask(method, params)
        const missing = await client.ask(method, JSON.parse(invented(JSON.stringify(params))))
        expect([asked.status, withoutId(invented(asked.text))]).toEqual([missing.status, withoutId(missing.text)])
      }
    }
  for (const server of ['shed', 'hold']) {
    const alone = await rawClient(`${gateway.url}/s/${server}`, { era: 'session' })
    expect(alone.greeting).not.toMatch(/canary sings/iu)
    for (const method of ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'])
      expect((await alone.ask(method, {})).text).not.toMatch(/canary/iu)
  }
  const metrics = await (await gateway.ask('/metrics')).text()
  expect(metrics).not.toMatch(/canary/iu)
  expect(metrics).toContain('unfold_upstream_held{upstream="shed"} 3')
  expect(JSON.stringify(await gateway.api('/savings'))).not.toMatch(/canary/iu)
  const [only] = (await gateway.api('/tools')) as readonly { readonly name: string }[]
  expect(only?.name).toBe('shed__sing')
}, 300_000)
