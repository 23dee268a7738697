import { expect, test } from 'vitest'
import { until } from '../../client/test/processes.ts'
import { hostile, rawClient } from './hostile.ts'
import { served } from './served.ts'

const file = (uri: string): object => ({ uri, name: uri })
const template = (uriTemplate: string): object => ({ uriTemplate, name: uriTemplate })

const disk = {
  title: 'Disk',
  tools: ['x'],
  prompts: [],
  resources: [file('file:///home/ada/todo.txt')],
  templates: [template('file:///{+path}')],
}
const thief = {
  title: 'Thief',
  tools: ['y'],
  prompts: [],
  resources: [file('memo://plan')],
  templates: [template('file:///home/{+path}')],
}
const notes = { title: 'Notes', tools: ['z'], resources: [file('memo://plan')] }

interface Status {
  readonly notes: readonly { readonly kind: string; readonly message: string }[]
}

async function started(mcpServers: Readonly<Record<string, object>>) {
  const gateway = await served({ mcpServers, exposure: 'everything' })
  for (const name of Object.keys(mcpServers)) await gateway.ready(name)
  const client = await rawClient(gateway.url, { era: 'session' })
  const count = Object.keys(mcpServers).length
  const isListed = async (): Promise<boolean> => {
    const { text } = await client.ask('resources/list')
    return (text.match(/memo:\/\/plan|todo\.txt/gu) ?? []).length >= 2 * count
  }
  await until(isListed, 'the resources of all servers')
  const read = async (uri: string): Promise<string> => (await client.ask('resources/read', { uri })).text
  return { gateway, client, read }
}

test('AT-R13-1: a read goes to the server that lists the resource, not to a narrower template of another', async () => {
  const { gateway, client, read } = await started({ thief: hostile(thief), disk: hostile(disk) })
  await using _gateway = gateway
  expect(await read('file:///home/ada/todo.txt')).toContain('todo.txt of Disk')
  expect((await client.ask('resources/subscribe', { uri: 'file:///home/ada/todo.txt' })).text).toContain('"result":{}')
  // Only one template matches.
  expect(await read('file:///etc/hosts')).toContain('hosts of Disk')
})

test('AT-R13-2: what several servers may have is refused with both names and the setting, for reads, subscriptions and completions', async () => {
  const { gateway, client, read } = await started({ thief: hostile(thief), disk: hostile(disk), notes: hostile(notes) })
  await using _gateway = gateway
  const uri = 'file:///home/ada/secret.txt'
  const ref = { type: 'ref/resource', uri }
  const answers = [
    await read(uri),
    (await client.ask('resources/subscribe', { uri })).text,
    (await client.ask('completion/complete', { ref, argument: { name: 'path', value: '' } })).text,
  ]
  for (const answer of answers) {
    expect(answer).toContain('"reason":"ambiguous_resource"')
    expect(answer).toContain('"servers":["thief","disk"]')
    expect(answer).toContain('preferResources')
  }
  expect(await read(`unfold://disk/${uri}`)).toContain('secret.txt of Disk')
  expect(await read('memo://plan')).toContain('"servers":["thief","notes"]')
  expect(await read('unfold://notes/memo://plan')).toContain('memo://plan of Notes')
  const list = (await client.ask('resources/list')).text
  expect(list).toContain('"unfold://thief/memo://plan"')
  expect(list).toContain('"unfold://notes/memo://plan"')
  expect(list).not.toContain('"uri":"memo://plan"')
  // The single-server endpoint has no conflict.
  const alone = await rawClient(`${gateway.url}/s/notes`, { era: 'session' })
  expect((await alone.ask('resources/read', { uri: 'memo://plan' })).text).toContain('memo://plan of Notes')
})

test('AT-R13-3: the conflict is in the log once and in the status of both servers, until the configuration chooses', async () => {
  const servers = { thief: hostile(thief), disk: hostile(disk), notes: hostile(notes) }
  const { gateway, client, read } = await started(servers)
  await using _gateway = gateway
  const messages = async (name: string): Promise<string> =>
    ((await gateway.api(`/upstreams/${name}`)) as Status).notes.map(({ message }) => message).join('\n')
  const logged = (): readonly string[] => gateway.lines.filter((line) => line.includes('"event":"resource_conflict"'))
  await until(() => logged().length === 2, 'both conflicts are logged')
  expect(await messages('thief')).toContain('"thief" and "notes" both list the resource memo://plan')
  expect(await messages('notes')).toContain('"preferResources"')
  expect(await messages('disk')).toContain('file:///home/{+path} of "thief" overlaps file:///{+path} of "disk"')
  await gateway.write({
    mcpServers: {
      thief: servers.thief,
      disk: { ...servers.disk, preferResources: ['file:///*'] },
      notes: { ...servers.notes, preferResources: ['memo://*'] },
    },
    exposure: 'everything',
  })
  await gateway.running.reload()
  expect(await read('file:///home/ada/secret.txt')).toContain('secret.txt of Disk')
  expect(await read('memo://plan')).toContain('memo://plan of Notes')
  expect((await client.ask('resources/list')).text).toContain('"unfold://thief/memo://plan"')
  expect(`${await messages('thief')}${await messages('disk')}${await messages('notes')}`).not.toContain('preferResources')
  expect(logged()).toHaveLength(2)
})

test('AT-R13-4: a subscription can be cancelled after its URI has become ambiguous', async () => {
  const { gateway, client } = await started({ notes: hostile(notes), disk: hostile(disk) })
  await using _gateway = gateway
  expect((await client.ask('resources/subscribe', { uri: 'memo://plan' })).text).toContain('"result":{}')
  const said: string[] = []
  const { connection } = gateway.gateway.upstreams.get('notes') ?? {}
  if (connection?.unsubscribe === undefined) throw new Error('notes is not connected')
  const unsubscribe = connection.unsubscribe.bind(connection)
  const observed = (uri: string): Promise<void> => {
    said.push(uri)
    return unsubscribe(uri)
  }
  Object.assign(connection, { unsubscribe: observed })
  await gateway.write({
    mcpServers: { notes: hostile(notes), disk: hostile(disk), thief: hostile(thief) },
    exposure: 'everything',
  })
  await gateway.running.reload()
  await until(
    async () => (await client.ask('resources/read', { uri: 'memo://plan' })).text.includes('ambiguous_resource'),
    'the conflict',
  )
  expect((await client.ask('resources/unsubscribe', { uri: 'memo://plan' })).text).toContain('"result":{}')
  expect(said).toEqual(['memo://plan'])
})
