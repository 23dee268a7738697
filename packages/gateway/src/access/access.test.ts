import { describe, expect, test } from 'vitest'
import { parseConfig } from '../config/read.ts'
import type { Config } from '../config/schema.ts'
import { createToken } from '../config/tokens.ts'
import { Access, type Client } from './access.ts'

const { record: free } = createToken('free')
const { record: bound } = createToken('bound', 'work')

const configOf = (profiles: object, more: object = {}): Config =>
  parseConfig(JSON.stringify({ mcpServers: { git: { command: 'x' }, unfold: { command: 'x' } }, profiles, ...more }), {
    file: 'unfold.json',
    environment: {},
  }).config

const profiles = { work: { servers: ['git'], exposure: 'groups' }, rest: { except: ['git__push'] } }

const has = (
  access: Access,
  client: Client | undefined,
  source: string,
  name: string,
  group: string | undefined = source,
): boolean => access.permits(client, { name }, { source, group })

describe('a client', () => {
  test('is the same object every time, and a different one for every token and profile', () => {
    const access = new Access(configOf(profiles))
    const clients = [
      access.client(undefined, undefined),
      access.client(undefined, 'work'),
      access.client(free, undefined),
      access.client(free, 'work'),
      access.client(bound, undefined),
    ]
    expect(new Set(clients.map(({ id }) => id)).size).toBe(5)
    expect(access.client(free, 'work')).toBe(clients[3])
    // Requesting the only profile of a token is the same as requesting none.
    expect(access.client(bound, 'work')).toBe(clients[4])
  })

  test('is distinct from a client whose token is named like its own token and profile', () => {
    const access = new Access(configOf(profiles))
    const { record } = createToken('free/work')
    expect(has(access, access.client(record, undefined), 'unfold', 'unfold__x')).toBe(true)
    expect(has(access, access.client(free, 'work'), 'unfold', 'unfold__x')).toBe(false)
    expect(access.client(createToken('free%2Fwork').record, undefined).id).not.toBe(access.client(record, undefined).id)
  })

  test('is admitted as long as its token exists unchanged, with the same profile', () => {
    const access = new Access(configOf(profiles, { tokens: [free, bound] }))
    const [holder, worker] = [access.client(free, undefined), access.client(bound, undefined)]
    const anonymous = access.client(undefined, undefined)
    const admitted = (): readonly boolean[] => [holder, worker, anonymous].map((client) => access.admits(client))
    expect(admitted()).toEqual([true, true, false])
    access.configure(configOf(profiles, { tokens: [createToken('free').record, { ...bound, profile: 'rest' }] }))
    expect(admitted()).toEqual([false, false, false])
    access.configure(configOf(profiles))
    expect(admitted()).toEqual([false, false, true])
  })

  test('gets no unknown profile and none that its token does not permit, without a hint about others', () => {
    const access = new Access(configOf(profiles))
    for (const wrong of ['wrk', '__proto__', 'constructor'])
      expect(() => access.client(undefined, wrong)).toThrow(expect.objectContaining({ reason: 'unknown_profile' }))
    expect(() => access.client(free, 'wrk')).toThrow('Nearest: work.')
    expect(() => access.client(bound, 'rest')).toThrow(/^Unknown profile "rest"\.$/u)
    expect(() => access.client(undefined, '\u202Ework')).toThrow(String.raw`"\u{202e}work"`)
  })
})

describe('the permissions of a client', () => {
  test('include everything without a profile, and the tools of the profile otherwise', () => {
    const access = new Access(configOf(profiles))
    for (const client of [undefined, access.client(undefined, undefined), access.client(free, undefined)])
      expect(has(access, client, 'git', 'git__push')).toBe(true)
    const worker = access.client(bound, undefined)
    expect([has(access, worker, 'git', 'git__push'), has(access, worker, 'unfold', 'unfold__x')]).toEqual([true, false])
    const rest = access.client(undefined, 'rest')
    expect([has(access, rest, 'git', 'git__push'), has(access, rest, 'unfold', 'unfold__x')]).toEqual([false, true])
  })

  test('always include the gateway’s own tools, even if a server has the same name', () => {
    const access = new Access(configOf(profiles))
    const gatewaysOwn = access.permits(
      access.client(bound, undefined),
      { name: 'read_result' },
      { source: 'unfold', group: undefined },
    )
    expect(gatewaysOwn).toBe(true)
  })

  test('follow the configuration, and so does the exposure', () => {
    const access = new Access(configOf(profiles, { exposure: 'search' }))
    const worker = access.client(bound, undefined)
    const before = access.version()
    expect([access.exposure(worker).mode, access.exposure(undefined).mode]).toEqual(['groups', 'search'])
    access.configure(configOf({ work: { servers: ['unfold'] } }, { exposure: 'lazy' }))
    expect(access.version()).not.toBe(before)
    expect([has(access, worker, 'git', 'git__push'), has(access, worker, 'unfold', 'unfold__x')]).toEqual([false, true])
    expect(access.exposure(worker).mode).toBe('lazy')
    const [never, always] = [false, true].map((lazy) => new Access(configOf({}, { exposure: 'lazy' }), { lazy }))
    expect([never?.exposure(undefined).mode, always?.exposure(undefined).mode]).toEqual(['auto', 'lazy'])
    // A removed profile permits nothing, not everything.
    access.configure(configOf({}))
    expect(has(access, worker, 'unfold', 'unfold__x')).toBe(false)
  })
})

test('the profile overrides the activation and search settings of the file', () => {
  const embedder = { url: 'http://127.0.0.1:9/v1', model: 'm' }
  const settings = { remember: 'reconnect', search: { learn: true } }
  const access = new Access(configOf({ work: { remember: 'principal', search: { embedder } }, rest: {} }, settings))
  const [worker, rest] = [access.client(undefined, 'work'), access.client(undefined, 'rest')]
  expect([access.remember(worker), access.remember(rest), access.remember(undefined)]).toEqual([
    'principal',
    'reconnect',
    'reconnect',
  ])
  // The search settings of a profile replace all others.
  expect(access.search(worker)).toMatchObject({ learn: false, deadlineMs: 300, embedder: {} })
  expect(access.search(rest)).toEqual({ learn: true, deadlineMs: 300, minConfidence: 0.42 })
  const before = access.search(worker)
  access.configure(configOf({ work: { remember: 'session', search: { embedder } } }))
  expect([access.remember(worker), access.search(worker) === before]).toEqual(['session', true])
  access.configure(configOf({ work: { search: { embedder: { ...embedder, model: 'n' } } } }))
  expect(access.search(worker)).not.toBe(before)
})

describe('a single server', () => {
  const config = (more: object = {}): Config =>
    configOf(
      {
        work: { servers: ['git'] },
        named: { tools: ['git__log'] },
        given: { tools: ['history'] },
        wide: { tools: ['*__log'] },
        none: { servers: [], except: ['git__*'] },
      },
      {
        mcpServers: {
          git: { command: 'x', tools: { hist: { name: 'history' } } },
          notes: { command: 'x' },
          off: { command: 'x', disabled: true },
        },
        ...more,
      },
    )

  test('is visible to clients that may use it or one of its tools, and to no others', () => {
    const tools: Record<string, readonly string[]> = { git: [], notes: ['notes__log'], off: ['off__log'] }
    const access = new Access(config(), { toolsOf: (server) => tools[server] ?? [] })
    const seen = (profile?: string): readonly string[] =>
      ['git', 'notes', 'off', 'constructor'].filter((server) => {
        try {
          return access.client(undefined, profile, server).server === server
        } catch {
          return false
        }
      })
    expect(seen()).toEqual(['git', 'notes'])
    // Before its tools are known, a server is visible to clients whose profile names it.
    expect([seen('work'), seen('named'), seen('given'), seen('wide'), seen('none')]).toEqual([
      ['git'],
      ['git'],
      ['git'],
      ['notes'],
      [],
    ])
    tools.git = ['git__log']
    expect(seen('wide')).toEqual(['git', 'notes'])
    expect(() => access.client(undefined, 'work', 'note')).toThrow(/^Unknown server "note"\.$/u)
    expect(() => access.client(free, undefined, 'note')).toThrow('Nearest: notes.')
  })

  test('is a separate client of the same token, with the permissions of its profile for that server', () => {
    const access = new Access(config({ tokens: [free, bound] }))
    const [one, whole] = [access.client(bound, undefined, 'git'), access.client(bound, undefined)]
    expect(one).toMatchObject({ id: `${whole.id}/s/git`, token: 'bound', profile: 'work', server: 'git' })
    expect(one).toBe(access.client(bound, undefined, 'git'))
    expect(one).not.toBe(whole)
    expect(access.client(createToken('a').record, undefined, 'git').id).not.toBe(
      access.client(createToken('a/s/git').record, undefined).id,
    )
    expect([has(access, one, 'git', 'git__log'), has(access, one, 'notes', 'notes__log')]).toEqual([true, false])
    const anyone = access.client(free, undefined, 'git')
    expect([access.permitsServer(anyone, 'git'), access.permitsServer(anyone, 'notes')]).toEqual([true, false])
    expect(has(access, anyone, 'notes', 'notes__log')).toBe(false)
  })

  test('admits no clients once it is removed, disabled or outside the profile', () => {
    const access = new Access(config())
    const client = access.client(undefined, 'work', 'git')
    expect(access.admits(client)).toBe(true)
    for (const next of [
      config({ mcpServers: { git: { command: 'x', disabled: true } } }),
      configOf({ work: { servers: ['unfold'] } }),
      configOf({ work: {} }, { mcpServers: { notes: { command: 'x' } } }),
    ]) {
      access.configure(next)
      expect(access.admits(client)).toBe(false)
    }
    access.configure(config())
    expect(access.admits(client)).toBe(true)
  })
})
