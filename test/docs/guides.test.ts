import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { signature, type Tool } from '@unfold-mcp/core'
import { afterAll, expect, test } from 'vitest'
import { extended, gated, grouped, plugins } from '../../docs/examples/adopting.ts'
import { adopted } from '../../docs/examples/adopting-v1.ts'
import { archive, desk } from '../../docs/examples/choosing-an-exposure.ts'
import { clearRecording, recorder } from '../../docs/examples/conditional-tools.ts'
import { AutomationHub, CodeAnalyzer } from '../../docs/examples/decorators.ts'
import { plugins as letters, workbench } from '../../docs/examples/dynamic-tools.ts'
import { analyzer, studio } from '../../docs/examples/gate.ts'
import { library } from '../../docs/examples/getting-started.ts'
import { closeForTheNight, clouds, devops, files, openConnections, reports, workshop } from '../../docs/examples/groups.ts'
import { hubWith } from '../../docs/examples/hidden-calls.ts'
import { extras, hybrid } from '../../docs/examples/hybrid.ts'
import { HybridServer } from '../../docs/examples/hybrid-class.ts'
import { office, wait, watched } from '../../docs/examples/lazy-mode.ts'
import { accounts } from '../../docs/examples/permissions.ts'
import { cookbook } from '../../docs/examples/prompts-and-resources.ts'
import { studioThat } from '../../docs/examples/remembering.ts'
import { kitchen } from '../../docs/examples/results-and-errors.ts'
import { approving, city } from '../../docs/examples/search.ts'
import { greenhouse, guarded, measured } from '../../docs/examples/state-aware-tools.ts'
import { weather } from '../../docs/examples/versions-and-aliases.ts'
import { shop } from '../../docs/examples/views.ts'
import { type RecordedClient, shownAs, transcript } from './transcript.ts'

/** The page must show exactly this text. */
const shows = (name: string, text: string): Promise<void> => expect(text).toMatchFileSnapshot(shownAs(name))

test('getting started: instructions, a short list, one activation, one notification, all problems of a call at once', async () => {
  const session = await transcript(library, {}, async (client) => {
    client.note('initialize', `instructions:\n${client.sdk.getInstructions()}`)
    await client.list()
    await client.call('activate_search')
    await client.list()
    await client.call('find_books', { title: 'Library' })
    await client.call('find_books', { limit: 0 })
  })
  await shows('getting-started', session)
})

test('two eras: one server, seen by a client of each era', async () => {
  const steps = async (client: RecordedClient): Promise<void> => {
    await client.list()
    await client.call('activate_search')
    await client.list()
  }
  await shows('two-eras-session', await transcript(library, { era: 'session' }, steps))
  await shows('two-eras-stateless', await transcript(library, { era: 'stateless' }, steps))
})

test('groups: parents, exclusions, requirements and deactivation of children', async () => {
  const session = await transcript(devops, {}, async (client) => {
    await client.list()
    await client.call('activate_aws')
    await client.call('activate_infra')
    await client.call('activate_aws')
    await client.call('activate_gcp')
    await client.call('deactivate', { group: 'infra' })
    await client.call('activate_deploy')
  })
  await shows('groups-tree', session)
})

test('groups: a stepwise menu lists the activators of child groups after activation', async () => {
  const session = await transcript(clouds, {}, async (client) => {
    await client.list()
    await client.call('activate_cloud')
    await client.list()
    await client.call('activate_amazon')
    await client.list()
  })
  await shows('groups-stepwise', session)
})

test('groups: a full quota evicts the least recently used group', async () => {
  const session = await transcript(workshop, {}, async (client) => {
    await client.call('activate_wood')
    await client.call('activate_metal')
    client.forget()
    await client.call('saw')
    await client.call('activate_paint')
  })
  await shows('quotas', session)
})

test('groups: a group can be deactivated from outside a request', async () => {
  await transcript(workshop, {}, async (client) => {
    await client.call('activate_metal')
    await closeForTheNight()
    expect(await client.list()).not.toContain('weld')
  })
})

test('groups: hooks open a connection for each session, and for all clients of 2026-07-28 together', async () => {
  await transcript(reports, {}, async (client) => {
    await client.call('activate_database')
    expect(openConnections()).toBe(1)
    await client.call('count_orders')
    expect(client.text).toContain('{"orders":[1]}')
  })
  await expect.poll(openConnections).toBe(0)
  for (const round of [1, 2]) {
    const text = await transcript(reports, { era: 'stateless' }, async (client) => {
      await client.call('count_orders')
      expect(openConnections(), `round ${round}`).toBe(1)
    })
    expect(text).toContain('{"orders":[1]}')
  }
  expect(openConnections()).toBe(1)
})

test('groups: a custom activator returns its own text, then the changes', async () => {
  const steps = async (client: RecordedClient): Promise<void> => {
    await client.list()
    await client.call('start_editing')
    await client.list()
  }
  await shows('groups-by-hand', await transcript(files, {}, steps))
  await shows('groups-by-hand-stateless', await transcript(files, { era: 'stateless' }, steps))
})

test('gate: groups behind a gate', async () => {
  const session = await transcript(studio, {}, async (client) => {
    await client.list()
    await client.call('activate')
    await client.list()
    await client.call('activate_takes')
    await client.list()
  })
  await shows('gate-groups', session)
})

test('gate: a new client sees activate and the tools that are always shown', async () => {
  const session = await transcript(analyzer, {}, async (client) => {
    await client.list()
    await client.call('activate')
    await client.list()
  })
  await shows('gate', session)
})

test('conditional tools: every change of a fact is announced in both eras', async () => {
  const steps = async (client: RecordedClient): Promise<void> => {
    await client.list()
    await client.call('replay')
    await client.call('record', { event: 'click' })
    await client.list()
    clearRecording()
    await client.hear()
    await client.list()
  }
  const session = await transcript(recorder, { era: 'session' }, steps)
  expect(await transcript(recorder, { era: 'stateless' }, steps)).toBe(session)
  await shows('conditional-tools', session)
})

test('state-aware tools: modes follow the data, tools wait for the first observation, and every reply says what to do', async () => {
  /** Returns the modes and data counts of a tool in a list. */
  const listModes = async (client: RecordedClient): Promise<void> => {
    const { tools } = await client.sdk.listTools(undefined, { cacheMode: 'bypass' })
    const lines = tools.flatMap((tool) => [
      signature(tool as Tool),
      ...(tool._meta === undefined ? [] : [`  _meta ${JSON.stringify(tool._meta)}`]),
    ])
    client.note('tools/list', lines.join('\n'))
  }
  const waiting = await transcript(greenhouse, {}, async (client) => {
    await client.list()
    await client.call('look', { at: 'weather' })
    await client.list()
  })
  await shows('state-aware-after', waiting)
  const fixed = await transcript(greenhouse, { era: 'stateless' }, async (client) => {
    const { tools } = await client.sdk.listTools()
    client.note('tools/list', tools.map(({ name, description }) => `${name}: ${description}`).join('\n'))
  })
  await shows('state-aware-stateless', fixed)
  const empty = await transcript(greenhouse, { view: 'exposure=everything' }, async (client) => {
    await listModes(client)
    await client.call('report', { as: 'csv' })
    await client.call('look', { at: 'redaings' })
  })
  await shows('state-aware-empty', empty)
  const filled = await transcript(greenhouse, { view: 'exposure=everything' }, async (client) => {
    measured(21)
    measured(38)
    await client.hear()
    await listModes(client)
    await client.call('look', { at: 'readings', above: 30 })
    await client.call('look', { at: 'alarms', above: 30 })
  })
  await shows('state-aware-filled', filled)
  await transcript(guarded, {}, async (client) => {
    expect(await client.list()).toEqual(['look', 'help'])
    await client.call('look')
    expect(await client.list()).toEqual(['look', 'help', 'open_gate'])
  })
})

test('dynamic tools: a plugin adds tools for all clients, and removes them again', async () => {
  const session = await transcript(workbench, {}, async (client) => {
    await client.list()
    await client.call('load_plugin', { name: 'letters' })
    await client.list()
    await client.call('load_plugin', { name: 'letters' })
    await client.call('unload_plugin', { name: 'letters' })
    await client.list()
  })
  await shows('dynamic-tools', session)
  expect(letters.entries()).toEqual([])
})

test('decorators: the activation field is separate for each client', async () => {
  const server = new CodeAnalyzer()
  const session = await transcript(server, {}, async (client) => {
    await client.list()
    await client.call('activate')
    await client.list()
  })
  await shows('decorators-gate', session)
  await transcript(server, {}, async (client) => {
    expect(await client.list()).toEqual(['activate'])
  })
})

test('decorators: groups, with a hint for hidden tools', async () => {
  const session = await transcript(new AutomationHub(), {}, async (client) => {
    await client.list()
    await client.call('read_file', { path: 'a.txt' })
    await client.call('activate_file_ops')
    await client.call('read_file', { path: 'a.txt' })
  })
  await shows('decorators-groups', session)
})

test('hybrid: activators, then declared tools, then registered tools', async () => {
  const session = await transcript(hybrid, {}, async (client) => {
    await client.list()
    await client.call('activate_core')
    await client.list()
  })
  await shows('hybrid', session)
  expect(extras.hasTool('hello')).toBe(true)
  const server = new HybridServer()
  server.registry.register('hello', { description: 'Say hello' }, () => 'Hello!')
  await transcript(server, {}, async (client) => {
    expect(await client.list()).toEqual(['activate_core', 'deactivate', 'hello'])
    await client.call('activate_core')
    expect(await client.list()).toEqual(['activate_core', 'deactivate', 'core_function', 'hello'])
  })
})

for (const policy of ['opaque', 'hint', 'reveal'] as const) {
  test(`hidden calls: ${policy}`, async () => {
    const session = await transcript(hubWith(policy), {}, async (client) => {
      await client.call('read_file', { path: 'a.txt' })
      await client.list()
    })
    await shows(`hidden-calls-${policy}`, session)
  })
}

test('hidden calls: on 2026-07-28 only a view hides tools, and the hint names the view', async () => {
  const withTwo = hubWith('hint').tool('now', { description: 'The time' }, () => '12:00')
  const text = await transcript(withTwo, { era: 'stateless', view: 'exposure=groups' }, async (client) => {
    await client.call('read_file', { path: 'a.txt' })
  })
  await shows('hidden-calls-view', text)
})

test('views: the list of each URL, in both eras', async () => {
  const addresses = [
    '',
    '?groups=orders',
    '?tags=daily',
    '?exposure=everything',
    '?exposure=lazy',
    '?exposure=search',
    '?readOnly',
    '?groups=orders&readOnly',
  ]
  for (const era of ['session', 'stateless'] as const) {
    const lines: string[] = []
    for (const address of addresses) {
      await transcript(shop, { era, view: address.slice(1) }, async (client) => {
        lines.push(`/mcp${address}`.padEnd(28) + (await client.list()).join(', '))
      })
    }
    await shows(`views-${era}`, `${lines.join('\n')}\n`)
  }
})

test('lazy mode: manage_tools lists, enables and disables; on 2026-07-28 tools are searched and called', async () => {
  const session = await transcript(office, {}, async (client) => {
    await client.list()
    await client.call('manage_tools', { action: 'list' })
    await client.call('manage_tools', { action: 'enable', tools: 'book_meeting' })
    await client.list()
    await client.call('book_meeting', { title: 'Planning', date: '2026-07-28' })
    await client.call('manage_tools', { action: 'disable', tools: 'book_meeting' })
  })
  await shows('lazy-mode', session)
  const names = await transcript(office, {}, async (client) => {
    await client.call('manage_tools', { action: 'enable', tools: ['mail', 'book_meting'] })
    await client.call('manage_tools', { action: 'enable', tools: 'send_mail' })
    await client.call('manage_tools', { action: 'status' })
    await client.call('manage_tools', { action: 'reset' })
  })
  await shows('lazy-mode-groups', names)
  const stateless = await transcript(office, { era: 'stateless' }, async (client) => {
    await client.list()
    await client.call('search_tools', { query: 'book a meeting' })
    await client.call('call_tool', { name: 'book_meeting', arguments: { title: 'Planning', date: '2026-07-28' } })
    await client.list()
  })
  await shows('lazy-mode-stateless', stateless)
})

test('lazy mode: a client that does not re-list is referred to call_tool', async () => {
  const session = await transcript(watched, {}, async (client) => {
    await client.list()
    await client.call('manage_tools', { action: 'enable', tools: 'count_mail' })
    wait(2_000)
    await client.call('manage_tools', { action: 'enable', tools: 'read_mail' })
    await client.call('call_tool', { name: 'read_mail' })
    await client.call('manage_tools', { action: 'status' })
  })
  await shows('lazy-mode-learning', session)
})

test('search: find, describe, call; invalid arguments; no matches', async () => {
  const found = await transcript(city, { era: 'stateless' }, async (client) => {
    await client.list()
    await client.call('search_tools', { query: 'lend a book' })
    await client.call('describe_tools', { names: ['lend_book'] })
    await client.call('call_tool', { name: 'lend_book', arguments: { book: 7, reader: 12 } })
  })
  await shows('search', found)
  const corrected = await transcript(city, { era: 'stateless' }, async (client) => {
    await client.call('call_tool', { name: 'lend_book', arguments: { book: 'seven' } })
    await client.call('call_tool', { name: 'lend_books' })
  })
  await shows('search-mistakes', corrected)
  const none = await transcript(city, { era: 'stateless' }, async (client) => {
    await client.call('search_tools', { query: 'order a pizza' })
    await client.call('search_tools', { query: '' })
    await client.call('search_tools', { query: 'book', detail: 'names', readOnly: true })
  })
  await shows('search-none', none)
})

test('search: separate tools for read, write and destructive calls', async () => {
  const text = await transcript(approving, { era: 'stateless' }, async (client) => {
    await client.list()
    await client.call('call_tool_read', { name: 'next_bus' })
    await client.call('call_tool_read', { name: 'close_account' })
  })
  await shows('search-variants', text)
})

test('choosing an exposure: the list of each URL, and the reason', async () => {
  for (const era of ['session', 'stateless'] as const) {
    const lines: string[] = []
    for (const address of ['', '?exposure=everything', '?exposure=groups', '?exposure=lazy', '?exposure=search']) {
      await transcript(archive, { era, view: address.slice(1) }, async (client) => {
        const names = await client.list()
        const few = names.length > 6 ? `${names.slice(0, 2).join(', ')}, … ${names.length - 2} more` : names.join(', ')
        lines.push(`/mcp${address}`.padEnd(26) + few)
      })
    }
    await shows(`choosing-${era}`, `${lines.join('\n')}\n`)
  }
  const status = await transcript(archive, {}, (client) => client.call('manage_tools', { action: 'status' }))
  await shows('choosing-status', status)
  await transcript(desk, { era: 'stateless' }, async (client) => {
    expect(await client.list()).toEqual(['now'])
  })
})

test('versions and aliases: newest, selected by a group, pinned in the URL', async () => {
  const lines: string[] = []
  for (const address of ['?groups=forecasts', '?groups=research', '?groups=forecasts&versions=forecast@1']) {
    for (const era of ['session', 'stateless'] as const) {
      const text = await transcript(weather, { era, view: address.slice(1) }, (client) =>
        client.call('forecast', { place: 'Oslo' }),
      )
      lines.push(`/mcp${address}`.padEnd(46) + era.padEnd(12) + text.split('\n')[1]?.trim())
    }
  }
  await shows('versions', `${lines.join('\n')}\n`)
  await transcript(weather, { era: 'stateless' }, async (client) => {
    expect(await client.list()).toEqual(['forecast', 'warnings'])
    await client.call('forecast', { place: 'Oslo' })
    await client.call('get_warnings')
    expect(client.text).toContain('Sunny until 15:00.')
    expect(client.text).toContain('None.')
  })
})

test('permissions: tools that are not permitted do not exist', async () => {
  for (const principal of [
    { id: 'ada', role: 'admin' },
    { id: 'bob', role: 'reader' },
  ]) {
    const session = await transcript(accounts, { principal }, async (client) => {
      await client.list()
      await client.call('activate_admin')
    })
    await shows(`permissions-${principal.id}`, session)
    await transcript(accounts, { principal, era: 'stateless' }, async (client) => {
      expect(await client.list()).toEqual(principal.id === 'ada' ? ['list_accounts', 'reset'] : ['list_accounts'])
    })
  }
})

const folder = await mkdtemp(join(tmpdir(), 'unfold-docs-'))
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }))

const ada = { id: 'ada' }

test('remembering: by default, a session starts fresh', async () => {
  await transcript(studioThat('session', folder), { principal: ada }, (client) => client.call('activate_drawing'))
  await transcript(studioThat('session', folder), { principal: ada }, async (client) => {
    expect(await client.list()).not.toContain('draw')
  })
})

test('remembering: the next session of a principal restores its groups, even after a restart', async () => {
  const before = await transcript(studioThat('reconnect', folder), { principal: ada }, async (client) => {
    await client.list()
    await client.call('activate_drawing')
  })
  const after = await transcript(studioThat('reconnect', folder), { principal: ada }, async (client) => {
    await client.list()
  })
  await shows('remembering-reconnect', `${before}\nThe server restarts, and Ada connects again:\n\n${after}`)
  await transcript(studioThat('reconnect', folder), { principal: { id: 'bob' } }, async (client) => {
    expect(await client.list()).not.toContain('draw')
  })
})

test('remembering: all clients of a principal share activations, including 2026-07-28', async () => {
  const own = join(folder, 'principal')
  const text = await transcript(studioThat('principal', own), { principal: ada, era: 'stateless' }, async (client) => {
    await client.list()
    await client.call('activate_drawing')
    await client.list()
  })
  await shows('remembering-principal', text)
  await transcript(studioThat('principal', own), { era: 'stateless' }, async (client) => {
    expect(await client.list()).toEqual(['draw', 'print'])
  })
})

test('prompts and resources are served in both eras, along with the tools', async () => {
  for (const era of ['session', 'stateless'] as const) {
    const text = await transcript(cookbook, { era }, async (client) => {
      const { prompts } = await client.sdk.listPrompts()
      client.note('prompts/list', prompts.map(({ name }) => name).join(', '))
      const { contents } = await client.sdk.readResource({ uri: 'recipe://soup' })
      client.note('resources/read recipe://soup', contents.map((content) => ('text' in content ? content.text : '')).join())
      const { completion } = await client.sdk.complete({
        ref: { type: 'ref/prompt', name: 'cook' },
        argument: { name: 'dish', value: 'so' },
      })
      client.note('completion/complete cook, dish: "so"', completion.values.join(', '))
      await client.list()
    })
    await shows(`prompts-and-resources-${era}`, text)
  }
})

test('results and errors', async () => {
  const results = await transcript(kitchen, {}, async (client) => {
    for (const name of ['greet', 'count', 'menu', 'photo', 'sold_out', 'ring']) await client.call(name)
  })
  await shows('results', results)
  expect(await transcript(kitchen, {}, (client) => client.call('bake'))).toContain('Baked.')
  const errors = await transcript(kitchen, {}, async (client) => {
    await client.call('price', { dish: 'soup', portions: 2 })
    await client.call('price', { portions: 'two' })
    await client.call('price', { dish: 'cake' })
  })
  await shows('results-errors', errors)
})

test('adopting: one gate', async () => {
  const session = await transcript(gated, {}, async (client) => {
    await client.list()
    await client.call('activate')
    await client.list()
  })
  await shows('adopting-gate', session)
})

test('adopting: groups', async () => {
  const session = await transcript(grouped, {}, async (client) => {
    await client.list()
    await client.call('read_file', { path: 'a.txt' })
    await client.call('activate_files')
    await client.call('read_file', { path: 'a.txt' })
  })
  await shows('adopting-groups', session)
  await transcript(grouped, { era: 'stateless' }, async (client) => {
    expect(await client.list()).toEqual(['read_file', 'write_file', 'send_mail', 'help'])
  })
})

test('adopting: tools at run time', async () => {
  const session = await transcript(extended, { view: 'groups=mail' }, async (client) => {
    await client.list()
    plugins.registerInGroup('sort_mail', { description: 'Sort the mail' }, 'mail', () => 'Sorted.')
    await client.hear()
    await client.list()
  })
  await shows('adopting-dynamic', session)
})

test('adopting: a server of version 1, in both eras', async () => {
  for (const era of ['session', 'stateless'] as const) {
    await transcript(adopted, { era, view: 'groups=search' }, async (client) => {
      expect(await client.list()).toContain('find')
      await client.call('find')
      expect(client.text).toContain('Found.')
    })
  }
})
