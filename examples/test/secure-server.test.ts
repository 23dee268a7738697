import { type ListeningServer, listen } from '@unfold-mcp/server'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { byToken, local, makeTokens, type User } from '../src/secure-server/access.ts'
import { secureServer } from '../src/secure-server/server.ts'
import { type Connected, connected, eras, joinedTo } from './connected.ts'

const forViewers = ['whoami', 'read_settings']
const forEditors = [...forViewers, 'change_setting']
const forOwners = [...forEditors, 'grant_permission', 'revoke_permission']

let tokens: ReturnType<typeof makeTokens>
let listening: ListeningServer

beforeEach(async () => {
  tokens = makeTokens()
  listening = await listen(secureServer(), { port: 0, authenticate: byToken(tokens) })
})
afterEach(() => listening.close())

function as(role: User['role'], era: (typeof eras)[number] = 'session'): Promise<Connected> {
  const token = [...tokens].find(([, user]) => user.role === role)?.[0]
  return joinedTo(listening.url, { era, token })
}

describe.each(eras)('permission (%s)', (era) => {
  test.each([
    ['viewer', forViewers],
    ['editor', forEditors],
    ['owner', forOwners],
  ] as const)('%s sees only permitted tools', async (role, tools) => {
    await using session = await as(role, era)
    expect(await session.toolNames()).toEqual(tools)
    expect(await session.data('whoami')).toEqual({ role })
  })

  test('a tool that is not permitted does not exist', async () => {
    await using viewer = await as('viewer', era)
    const refusal = (name: string) => viewer.call(name, { permission: 'admin' }).then(String, (error: Error) => error.message)
    expect(await refusal('grant_permission')).toBe((await refusal('grant_permissiom')).replace('permissiom', 'permission'))
  })

  test('a request without a valid token is rejected', async () => {
    await expect(joinedTo(listening.url, { era })).rejects.toThrow(/token|401|unauthorized/iu)
    await expect(joinedTo(listening.url, { era, token: 'guess' })).rejects.toThrow(/token|401|unauthorized/iu)
    const answer = await fetch(listening.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
  })

  test('granting admin reveals admin_reset to permitted users, and notifies only them', async () => {
    await using owner = await as('owner', era)
    await using editor = await as('editor', era)
    await using viewer = await as('viewer', era)
    await expect(editor.call('admin_reset')).rejects.toThrow('not found')
    await owner.call('grant_permission', { permission: 'admin' })
    await expect.poll(() => [owner.notices, editor.notices]).toEqual([1, 1])
    expect(await editor.toolNames()).toEqual([...forEditors, 'admin_reset'])
    expect(await viewer.toolNames()).toEqual(forViewers)
    expect(viewer.notices).toBe(0)
    await expect(viewer.call('admin_reset')).rejects.toThrow('not found')

    await editor.call('change_setting', { name: 'theme', value: 'dark' })
    expect(await editor.text('admin_reset')).toBe('System reset')
    expect(await viewer.data('read_settings')).toMatchObject({ theme: 'light' })

    await owner.call('revoke_permission', { permission: 'admin' })
    expect(await editor.toolNames()).toEqual(forEditors)
    await expect(editor.call('admin_reset')).rejects.toThrow('not found')
  })
})

test('settings are read and changed, and errors list the known names', async () => {
  await using editor = await as('editor')
  expect(await editor.data('read_settings')).toEqual({ theme: 'light', language: 'en', retention_days: '30' })
  expect(await editor.text('change_setting', { name: 'language', value: 'de' })).toBe('language is now de.')
  expect(await editor.data('read_settings')).toMatchObject({ language: 'de' })
  await expect(editor.call('change_setting', { name: 'colour', value: 'red' })).rejects.toThrow(
    'Settings: theme, language, retention_days',
  )
  await using owner = await as('owner')
  await expect(owner.call('grant_permission', { permission: 'root' })).rejects.toThrow('permission')
})

test('tokens differ at every start', () => {
  expect([...makeTokens().keys()].filter((token) => tokens.has(token))).toEqual([])
})

test('without a principal, no tool is listed', async () => {
  await using session = await connected(secureServer())
  expect(await session.toolNames()).toEqual([])
})

test('the user on stdio is the owner', () => {
  expect(local.role).toBe('owner')
})
