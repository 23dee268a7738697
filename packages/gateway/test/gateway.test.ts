import { tmpdir } from 'node:os'
import { describe, expect, test } from 'vitest'
import { until } from '../../client/test/processes.ts'
import { silent } from '../src/base/log.ts'
import { parseConfig } from '../src/config/read.ts'
import { createToken } from '../src/config/tokens.ts'
import { Gateway } from '../src/gateway/gateway.ts'
import { catalogKey } from '../src/stores/key.ts'
import { memoryCatalog } from '../src/stores/memory.ts'
import { become, composition, eras, plain } from './composition.ts'
import { textOf } from './result-text.ts'

const finding = ['search_tools', 'describe_tools', 'call_tool']
const own = 'read_result'
const long = `a_tool_whose_name_is_${'far_'.repeat(12)}too_long`

const git = plain({
  instructions: 'Works with repositories.',
  tools: [{ name: 'log', description: 'Shows the history' }, 'status'],
})
const notes = plain({ title: 'Notebook', tools: ['add', 'find'] })

describe('the view of a client', () => {
  test('names map back to one server and one tool, for any names', async () => {
    const odd = ['read me', 'a__b', '_x', long, `${long}_2`, 'log']
    await using gateway = await composition({
      mcpServers: { git, 'My Files!': plain({ tools: odd }) },
      exposure: 'everything',
    })
    const client = await gateway.connect({ listens: false })
    const names = (await client.toolNames()).filter((name) => name !== own)
    expect(new Set(names).size).toBe(2 + odd.length)
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/u)
    expect(names.slice(0, 2)).toEqual(['git__log', 'git__status'])
    const reached: string[] = []
    for (const name of names.slice(2)) {
      const [, tool = ''] = /^(.*) \{\}$/u.exec(textOf(await client.call(name))) ?? []
      expect(gateway.gateway.source.originalName('My Files!', name)).toBe(tool)
      reached.push(tool)
    }
    expect(reached).toEqual(odd)
  })

  test('the configuration renames, describes, pins and disables single tools', async () => {
    await using gateway = await composition({
      mcpServers: {
        git: plain(
          { tools: ['log', 'status', 'push', 'pull', 'gc'] },
          {
            tools: {
              log: { name: 'history', description: 'What was done' },
              status: { pinned: true },
              push: { enabled: false },
              gc: { enabled: true },
            },
            deny: ['pull', 'gc'],
          },
        ),
      },
      exposure: 'groups',
    })
    const client = await gateway.connect()
    expect(await client.toolNames()).toEqual(['activate_git', 'deactivate', own, 'git__status'])
    await client.call('activate_git')
    const tools = await client.tools()
    expect(tools.map(({ name }) => name).slice(3)).toEqual(['history', 'git__status', 'git__gc'])
    expect(tools.find(({ name }) => name === 'history')?.description).toBe('What was done')
    expect(textOf(await client.call('history'))).toBe('log {}')
    for (const gone of ['git__push', 'git__pull', 'git__log']) await expect(client.call(gone)).rejects.toThrow('not found')
  })

  test('every server is a group with a description from its tools, and groups can be nested', async () => {
    await using gateway = await composition({
      mcpServers: { git, notes, empty: plain({ tools: [] }), off: { ...notes, disabled: true } },
      exposure: 'groups',
      groups: {
        work: { description: 'All for work', groups: ['dev'], servers: ['notes'] },
        dev: { description: 'Development', servers: ['git'] },
      },
    })
    const client = await gateway.connect()
    const activators = async (): Promise<unknown> =>
      (await client.tools())
        .filter(({ name }) => name.startsWith('activate_'))
        .map(({ name, description = '' }) => [name, description.split('.')[0]])
    const work = ['activate_work', 'All for work']
    expect(await activators()).toEqual([work])
    expect(gateway.gateway.upstreams.get('off')?.status.pid).toBeUndefined()
    expect(textOf(await client.call('activate_git'))).toContain("'activate_work'")
    expect(textOf(await client.call('activate_work'))).toContain('activate_dev')
    // A server without tools, and a disabled one, have no activator.
    const dev = ['activate_dev', 'Development']
    const notebook = ['activate_notes', 'Notebook: add, find (2 tools)']
    expect(await activators()).toEqual([work, dev, notebook])
    await client.call('activate_dev')
    expect(await activators()).toEqual([work, dev, ['activate_git', 'Git: log, status (2 tools)'], notebook])
    expect(textOf(await client.call('activate_git'))).toContain('git__log() — Shows the history')
    expect(await client.toolNames()).toContain('git__status')
    await client.call('deactivate', { group: 'work' })
    expect(await client.toolNames()).not.toContain('git__status')
  })

  test('similar or invalid tools are reported to the operator, and names are unique', async () => {
    const alike = plain({ tools: ['list_all', 'list-all', { name: 'odd', inputSchema: { type: 'object', $ref: '#' } }] })
    const renamed = plain({ tools: ['log'] }, { tools: { log: { name: 'history' } } })
    const config = { mcpServers: { git: renamed, notes: alike }, exposure: 'everything' }
    await using gateway = await composition(config)
    const client = await gateway.connect({ listens: false })
    expect(await client.toolNames()).toEqual([own, 'history', 'notes__list_all', 'notes__list-all'])
    expect(gateway.gateway.source.notes('notes').map(({ kind, message }) => [kind, message])).toEqual([
      ['left_out', 'Tool "odd" is omitted: its input schema is not accepted: it contains a circular reference.'],
      ['warning', 'Similar tool names: notes__list_all, notes__list-all.'],
    ])
    const clash = { git: renamed, notes: { ...alike, tools: { list_all: { name: 'history' } } } }
    expect((await gateway.edit({ ...config, mcpServers: clash })).join()).toContain('is already the name of git.tools.log')
    expect(await client.toolNames()).toContain('notes__list_all')
  })
})

describe('the exposure', () => {
  const mcpServers = { git, notes }
  const whole = ['git__log', 'git__status', 'notes__add', 'notes__find']
  const groups = ['activate_git', 'activate_notes', 'deactivate', own]
  const shapes = {
    everything: { session: [own, ...whole], stateless: [own, ...whole] },
    groups: { session: groups, stateless: [...finding, own] },
    lazy: { session: ['manage_tools', own], stateless: [...finding, own] },
    search: { session: [...finding, own], stateless: [...finding, own] },
    native: { session: [own, ...whole], stateless: [own, ...whole] },
    auto: { session: [...finding, own], stateless: [...finding, own] },
  } as const
  const all = ['everything', 'native', 'groups', 'lazy', 'search', 'auto'] as const

  test.each(eras)('is set by the configuration, a profile, a token, and finally the URL, in the era "%s"', async (era) => {
    const tokens = all.map((exposure) => createToken(`${exposure} token`, exposure))
    const config = {
      mcpServers,
      // Nothing is small enough to be listed completely.
      budgetTokens: 1,
      profiles: Object.fromEntries(all.map((exposure) => [exposure, { exposure }])),
    }
    await using gateway = await composition({ ...config, exposure: 'search' })
    const lists = async (asking: object): Promise<readonly string[]> => {
      const client = await gateway.connect({ era, listens: false, ...asking })
      return client.toolNames()
    }
    for (const exposure of all) expect(await lists({ at: `/${exposure}` })).toEqual(shapes[exposure][era])
    // On 2026-07-28, a URL that requests groups selects the exposure itself.
    for (const exposure of all.filter((each) => each !== 'groups'))
      expect(await lists({ at: `/lazy?exposure=${exposure}` })).toEqual(shapes[exposure][era])
    for (const exposure of all) {
      await gateway.edit({ ...config, exposure })
      expect(await lists({})).toEqual(shapes[exposure][era])
    }
    await gateway.edit({ ...config, exposure: 'search', tokens: tokens.map(({ record }) => record) })
    for (const [at, exposure] of all.entries()) expect(await lists({ token: tokens[at]?.token })).toEqual(shapes[exposure][era])
    const refused = await Promise.allSettled([lists({}), lists({ token: tokens[0]?.token, at: '/lazy' })])
    expect(refused.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  })

  test.each(eras)('the URL selects groups, and an invalid one is rejected, in the era "%s"', async (era) => {
    await using gateway = await composition({ mcpServers, exposure: 'groups', profiles: { one: { servers: ['git'] } } })
    const client = await gateway.connect({ era, at: '?groups=notes', listens: false })
    const names = await client.toolNames()
    expect(names).toContain('notes__add')
    expect(names).not.toContain('git__log')
    const wrong = ['?groups=ntes', '/one?groups=notes', '/on'].map((at) => gateway.connect({ era, at, listens: false }))
    expect((await Promise.allSettled(wrong)).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  })

  test('an invalid URL is answered with the names that the client may use', async () => {
    await using gateway = await composition({ mcpServers, exposure: 'groups', profiles: { one: { servers: ['git'] } } })
    await expect(gateway.connect({ at: '?groups=ntes' })).rejects.toThrow('Nearest: notes')
    await expect(gateway.connect({ at: '/one?groups=notes' })).rejects.toThrow('in the URL. Known: git.')
    await expect(gateway.connect({ at: '/on' })).rejects.toThrow('Unknown profile')
  })

  test('savings are computed once per client until something changes', async () => {
    await using gateway = await composition({
      mcpServers,
      exposure: 'search',
      profiles: { git: { servers: ['git'], exposure: 'everything' } },
    })
    const { gateway: saving } = gateway
    const first = await saving.savings()
    expect(first).toMatchObject({ exposure: 'search', tools: 5, listed: 4 })
    expect(await saving.savings()).toBe(first)
    const profiled = await saving.savings(saving.access.client(undefined, 'git'))
    expect(profiled).toMatchObject({ exposure: 'everything', tools: 3, listed: 3 })
    expect(profiled.listedTokens).toBe(profiled.allTokens)
    await become(await gateway.connect(), 'git__log', ['log'])
    await until(async () => (await saving.savings()).tools === 4, 'the change is applied')
    expect((await saving.savings()).allTokens).toBeLessThan(first.allTokens)
  })
})

describe.each(eras)('the calls of a client, in the era "%s"', (era) => {
  test('calls of hidden tools work, and reveal their group if the list can change', async () => {
    await using gateway = await composition({ mcpServers: { git, notes }, exposure: 'groups', budgetTokens: 1 })
    const [one, other] = [await gateway.connect({ era }), await gateway.connect({ era })]
    const before = await one.toolNames()
    const answer = await one.call('git__log', { a: 1 })
    const shown = era === 'session' ? ['git__log', 'git__status'] : []
    const notices = era === 'session' ? 1 : 0
    expect(answer.content).toEqual([{ type: 'text', text: 'log {"a":1}' }])
    const activated = answer._meta?.['io.github.unfold-mcp/activation'] as { appeared?: unknown } | undefined
    expect(activated?.appeared).toEqual(era === 'session' ? shown : undefined)
    expect(await one.toolNames()).toEqual([...before, ...shown])
    await one.waitForListChanges(notices)
    await one.settle()
    expect(one.listChanges).toBe(notices)
    // No other client sees it or is notified.
    expect(await other.toolNames()).toEqual(before)
    expect(other.listChanges).toBe(0)
  })

  test('a search finds the current tools of a server, and no removed ones', async () => {
    await using gateway = await composition({ mcpServers: { git, notes }, exposure: 'search' })
    const client = await gateway.connect({ era })
    const finds = async (query: string): Promise<string> => textOf(await client.call('search_tools', { query }))
    expect(await finds('history')).toContain('git__log')
    await become(client, 'git__log', [{ name: 'blame', description: 'Who wrote each line' }, 'log'])
    await until(async () => (await finds('who wrote each line')).includes('git__blame'), 'the new tool is found')
    expect(await finds('history')).not.toContain('Shows the history')
    expect(textOf(await client.call('call_tool', { name: 'git__blame', arguments: { file: 'a' } }))).toContain(
      'blame {"file":"a"}',
    )
  })

  test('a change is announced once to clients whose view it changes, and to no others', async () => {
    await using gateway = await composition({
      mcpServers: { git, notes },
      exposure: 'everything',
      profiles: { git: { servers: ['git'] }, notes: { servers: ['notes'] } },
    })
    const ats = ['', '/git', '/notes', '?exposure=search']
    const [all, gits, others, searching] = await Promise.all(ats.map((at) => gateway.connect({ era, at })))
    await become(all as never, 'git__log', ['log', 'status', 'blame'])
    await Promise.all([all?.waitForListChanges(1), gits?.waitForListChanges(1)])
    expect(await gits?.toolNames()).toEqual([own, 'git__log', 'git__status', 'git__blame'])
    // Announcing the same tools again is not a change.
    await become(all as never, 'git__log', ['log', 'status', 'blame'])
    await become(all as never, 'notes__add', ['add'])
    await Promise.all([all?.waitForListChanges(2), others?.waitForListChanges(1)])
    await all?.settle()
    expect([all, gits, others, searching].map((client) => client?.listChanges)).toEqual([2, 1, 1, 0])
  })
})

describe('an edit of the file', () => {
  const lazily = { sweepMs: 0 }

  test('affects only the servers that it changes', async () => {
    const base = { git, notes, web: plain({ tools: ['get'] }) }
    await using gateway = await composition({ mcpServers: base, exposure: 'everything' })
    const client = await gateway.connect()
    const pids = (...names: readonly string[]): readonly (number | undefined)[] => names.map((name) => gateway.pid(name))
    const before = pids('git', 'notes', 'web')
    expect(new Set(before).size).toBe(3)

    await gateway.edit({ mcpServers: { ...base, more: plain({ tools: ['x'] }) }, exposure: 'everything' })
    expect(await client.toolNames()).toContain('more__x')
    expect(pids('git', 'notes', 'web')).toEqual(before)

    const changed = { git, notes: plain({ tools: ['add', 'find', 'tag'] }), web: { ...base.web, ...lazily } }
    await gateway.edit({ mcpServers: changed, exposure: 'everything' })
    await until(async () => (await client.toolNames()).includes('notes__tag'), 'the changed server is back')
    expect(await client.toolNames()).not.toContain('more__x')
    await expect(client.call('more__x')).rejects.toThrow('not found')
    // Other settings do not restart a server; another command does.
    expect(pids('git', 'web')).toEqual([before[0], before[2]])
    expect(pids('notes')[0]).not.toBe(before[1])

    await gateway.edit({ mcpServers: { ...changed, git: { ...git, disabled: true } }, exposure: 'everything' })
    expect((await client.toolNames()).filter((name) => name.startsWith('git__'))).toEqual([])
    expect(pids('git', 'web')).toEqual([undefined, before[2]])
  })

  test('that reuses a name for another server keeps nothing of the previous one', async () => {
    const read = (mcpServers: object) =>
      parseConfig(JSON.stringify({ mcpServers, exposure: 'everything' }), { file: 'unfold.json', environment: {} })
    const mute = { command: process.execPath, args: ['-e', 'process.stdin.resume()'] }
    const first = { mute, notes: { ...mute, env: { A: '1' } } }
    const store = memoryCatalog()
    const kept = read(first).config.mcpServers.notes
    if (kept === undefined) throw new Error('no server')
    await store.replaceTools(catalogKey('notes', kept), [{ name: 'add', inputSchema: { type: 'object' } }], {
      instructions: 'Keeps notes.',
    })
    await using gateway = await Gateway.open({ read: read(first), folder: tmpdir(), store, log: silent })
    const listed = (): readonly string[] => gateway.source.entries().map(({ tool }) => tool.name)
    // Cached tools are served although the server never responds.
    expect(listed()).toEqual(['notes__add'])
    await gateway.apply(read({ mute }))
    expect(listed()).toEqual([])
    await gateway.apply(read({ mute, notes: { ...mute, env: { A: '2' } } }))
    expect(listed()).toEqual([])
    expect(await store.load(catalogKey('notes', kept))).toBeUndefined()
  })

  test('that renames a tool or changes a profile notifies connected clients once, and restarts nothing', async () => {
    const profiles = { work: { servers: ['git'] }, home: { servers: ['notes'] } }
    await using gateway = await composition({ mcpServers: { git, notes }, exposure: 'everything', profiles })
    const [worker, homely] = [await gateway.connect({ at: '/work' }), await gateway.connect({ at: '/home' })]
    const before = [gateway.pid('git'), gateway.pid('notes')]
    const renamed = { git: { ...git, tools: { log: { name: 'history' } } }, notes }
    await gateway.edit({ mcpServers: renamed, exposure: 'everything', profiles })
    await worker.waitForListChanges(1)
    expect(await worker.toolNames()).toEqual([own, 'history', 'git__status'])
    expect(textOf(await worker.call('history'))).toBe('log {}')
    const widened = { ...profiles, work: { servers: ['git', 'notes'], except: ['notes__add'] } }
    await gateway.edit({ mcpServers: renamed, exposure: 'everything', profiles: widened })
    await worker.waitForListChanges(2)
    expect(await worker.toolNames()).toEqual([own, 'history', 'git__status', 'notes__find'])
    await gateway.edit({ mcpServers: renamed, exposure: 'everything', profiles: { work: widened.work } })
    await homely.waitForListChanges(1)
    await expect(homely.toolNames()).rejects.toThrow('Unknown profile')
    await homely.settle()
    expect([worker.listChanges, homely.listChanges]).toEqual([2, 1])
    expect([gateway.pid('git'), gateway.pid('notes')]).toEqual(before)
  })

  test('that is invalid is not applied: the last valid configuration stays in use, and the log shows the location', async () => {
    const config = { mcpServers: { git, notes }, exposure: 'everything' }
    await using gateway = await composition(config)
    const client = await gateway.connect()
    const before = { names: await client.toolNames(), pid: gateway.pid('git') }
    for (const wrong of [
      '{ "mcpServers": { "git": ',
      { ...config, exposre: 'lazy' },
      { ...config, groups: { a: { description: 'A', groups: ['a'] } } },
    ]) {
      const [problem] = await gateway.edit(wrong)
      expect(problem).toMatch(/^\d+:\d+ /u)
      expect(gateway.messages.at(-1)).toContain('the last valid configuration stays in use')
      expect(await client.toolNames()).toEqual(before.names)
      expect(gateway.pid('git')).toBe(before.pid)
    }
    await client.settle()
    expect(client.listChanges).toBe(0)
    await gateway.edit({ ...config, mcpServers: { git } })
    await client.waitForListChanges(1)
    expect(gateway.pid('git')).toBe(before.pid)
  })
})
