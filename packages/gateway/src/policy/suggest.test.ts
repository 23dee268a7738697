import { expect, test } from 'vitest'
import { policy as policySchema } from '../config/policy/schema.ts'
import { suggestPolicy } from './suggest.ts'

const call = (upstream: string, tool: string, input?: unknown, outcome = 'ok') => ({ upstream, tool, outcome, arguments: input })
const ask = { effect: 'ask', reason: 'This has not been used before.', annotations: { destructive: true } }

test('used tools are allowed, and other destructive ones need approval', () => {
  const suggested = suggestPolicy([
    call('git', 'log'),
    call('git', 'commit'),
    call('git', 'log', undefined, 'error'),
    call('web', 'fetch'),
  ])
  expect(suggested).toEqual({
    rules: [
      { effect: 'allow', server: 'git', tool: ['commit', 'log'] },
      { effect: 'allow', server: 'web', tool: ['fetch'] },
      ask,
    ],
  })
  expect(policySchema.safeParse(suggested).success).toBe(true)
})

test('calls that did not reach their server do not count', () => {
  expect(
    suggestPolicy([call('git', 'push', {}, 'denied'), call('git', 'push', {}, 'busy'), call('git', 'push', {}, 'called')]),
  ).toEqual({ rules: [ask] })
})

test('recorded paths limit a rule to the folders that were used', () => {
  const suggested = suggestPolicy([
    call('files', 'read', { path: '/home/me/project/src/a.ts' }),
    call('files', 'read', { path: '/home/me/project/docs/b.md' }),
    call('files', 'write', { path: '/home/me/project/docs/c.md', content: '/tmp' }),
    call('files', 'move', { source: '/home/me/project/a', destination: '/srv/www/b' }),
    call('files', 'list', { path: '/etc' }),
    call('files', 'stat', { path: '/srv/www/x' }),
    call('files', 'stat', {}),
    call('files', 'find', { path: '[12 characters]' }),
  ])
  expect(suggested.rules).toEqual([
    { effect: 'allow', server: 'files', tool: ['find', 'list', 'stat'] },
    {
      effect: 'allow',
      server: 'files',
      tool: ['move'],
      path: { argument: ['source', 'destination'], inside: ['/home/me/project', '/srv/www'] },
    },
    { effect: 'allow', server: 'files', tool: ['read'], path: { argument: ['path'], inside: ['/home/me/project'] } },
    { effect: 'allow', server: 'files', tool: ['write'], path: { argument: ['path'], inside: ['/home/me/project/docs'] } },
    ask,
  ])
})
