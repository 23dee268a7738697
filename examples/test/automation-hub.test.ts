import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { isPrivate } from '../src/automation-hub/addresses.ts'
import { automationHub } from '../src/automation-hub/hub.ts'
import { settingsFrom } from '../src/automation-hub/settings.ts'
import { type Connected, connected, eras } from './connected.ts'

let folder: string
let files: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'automation-hub-'))
  files = join(folder, 'files')
})
afterEach(() => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }))

const hub = (timeoutMs = 5_000) => automationHub({ folder, allowPrivate: false, timeoutMs })

async function opened(...groups: string[]): Promise<Connected> {
  const session = await connected(hub())
  for (const group of groups) await session.call(`activate_${group}`)
  return session
}

const menu = ['activate_file_ops', 'activate_network', 'activate_database', 'deactivate']
const fileTools = ['read_file', 'write_file', 'delete_file', 'move_file', 'list_files']
const networkTools = ['fetch_url', 'download', 'upload']
const databaseTools = ['create_table', 'insert', 'query', 'update']

describe('the menu', () => {
  test('a new session sees the activators and deactivate', async () => {
    await using session = await connected(hub())
    expect(await session.toolNames()).toEqual(menu)
  })

  test('without sessions all tools are listed from the start, and no activators', async () => {
    await using session = await connected(hub(), { era: 'stateless' })
    expect(await session.toolNames()).toEqual([...fileTools, ...networkTools, ...databaseTools])
  })

  test('activating a group shows its tools and notifies the client; deactivating hides them', async () => {
    await using session = await connected(hub())
    expect(await session.text('activate_file_ops')).toContain('read_file(path: string')
    await expect.poll(() => session.notices).toBe(1)
    expect(await session.toolNames()).toEqual([...menu, ...fileTools])
    await session.call('activate_database')
    await session.call('deactivate', { group: 'file_ops' })
    expect(await session.toolNames()).toEqual([...menu, ...databaseTools])
  })

  test('the reply to a call of a hidden tool names the group to activate', async () => {
    await using session = await connected(hub())
    await expect(session.call('query', { table: 'x' })).rejects.toThrow("Call 'activate_database' first")
  })

  test.each(eras)('a complete task runs with the same calls (%s)', async (era) => {
    await using session = await connected(hub(), { era })
    await session.call('activate_file_ops')
    await session.call('write_file', { path: 'note.txt', content: 'hello' })
    expect(await session.text('read_file', { path: 'note.txt' })).toBe('hello')
  })

  test('tools have annotations', async () => {
    await using session = await connected(hub(), { era: 'stateless' })
    const { tools } = await session.client.listTools()
    const having = (hint: 'readOnlyHint' | 'destructiveHint') =>
      tools.filter((tool) => tool.annotations?.[hint] === true).map((tool) => tool.name)
    expect(having('readOnlyHint')).toEqual(['read_file', 'list_files', 'fetch_url', 'query'])
    expect(having('destructiveHint')).toEqual(['write_file', 'delete_file', 'move_file', 'download', 'upload', 'update'])
  })
})

describe('settings', () => {
  test('the folder comes from AUTOMATION_HUB_FOLDER, UNFOLD_HOME or the XDG data folder', () => {
    expect(settingsFrom({ AUTOMATION_HUB_FOLDER: '/a', UNFOLD_HOME: '/b' }).folder).toBe('/a')
    expect(settingsFrom({ UNFOLD_HOME: '/b', XDG_DATA_HOME: '/c' }).folder).toBe(join('/b', 'automation-hub'))
    expect(settingsFrom({ XDG_DATA_HOME: '/c' }).folder).toBe(join('/c', 'unfold', 'automation-hub'))
  })

  test('only the value 1 allows private addresses', () => {
    expect(settingsFrom({ AUTOMATION_HUB_ALLOW_PRIVATE: '1' }).allowPrivate).toBe(true)
    expect(settingsFrom({ AUTOMATION_HUB_ALLOW_PRIVATE: '0' }).allowPrivate).toBe(false)
  })
})

describe('file_ops', () => {
  test('a file is written, appended to, read in parts, moved, listed and deleted', async () => {
    await using session = await opened('file_ops')
    expect(await session.data('write_file', { path: 'notes/a.txt', content: 'one\n' })).toEqual({ path: 'notes/a.txt', bytes: 4 })
    await session.call('write_file', { path: 'notes/a.txt', content: 'two\n', append: true })
    expect(await readFile(join(files, 'notes/a.txt'), 'utf8')).toBe('one\ntwo\n')
    expect(await session.text('read_file', { path: 'notes/a.txt', offset: 4, length: 3 })).toBe('two')
    await session.call('move_file', { from: 'notes/a.txt', to: 'b.txt' })
    const { entries } = await session.data<{ entries: { path: string; kind: string; bytes: number }[] }>('list_files', {
      recursive: true,
    })
    expect(entries.map(({ path, kind, bytes }) => [path, kind, kind === 'file' ? bytes : 0])).toEqual([
      ['b.txt', 'file', 8],
      ['notes', 'folder', 0],
    ])
    await session.call('delete_file', { path: 'b.txt' })
    await session.call('delete_file', { path: 'notes' })
    expect(await readdir(files)).toEqual([])
  })

  test('bytes are sent as base64, and binary files are not returned as text', async () => {
    await using session = await opened('file_ops')
    const content = Buffer.from([0, 255, 1]).toString('base64')
    await session.call('write_file', { path: 'x.bin', content, encoding: 'base64' })
    await expect(session.call('read_file', { path: 'x.bin' })).rejects.toThrow('encoding: "base64"')
    expect(await session.text('read_file', { path: 'x.bin', encoding: 'base64' })).toBe(content)
  })

  test('moving does not overwrite by default', async () => {
    await using session = await opened('file_ops')
    await session.call('write_file', { path: 'a', content: 'a' })
    await session.call('write_file', { path: 'b', content: 'b' })
    await expect(session.call('move_file', { from: 'a', to: 'b' })).rejects.toThrow('overwrite: true')
    await session.call('move_file', { from: 'a', to: 'b', overwrite: true })
    expect(await session.text('read_file', { path: 'b' })).toBe('a')
  })

  test('a file above the result limit is read in parts', async () => {
    await using session = await opened('file_ops')
    await mkdir(files, { recursive: true })
    await writeFile(join(files, 'large'), 'x'.repeat(1_000_001))
    await expect(session.call('read_file', { path: 'large' })).rejects.toThrow('Read it in parts')
    expect(await session.text('read_file', { path: 'large', offset: 1_000_000 })).toBe('x')
  })

  test.each(['../secret', 'a/../../secret', '/etc/hostname', '..'])('no path escapes the folder: %s', async (path) => {
    await using session = await opened('file_ops')
    await writeFile(join(folder, 'secret'), 'secret')
    for (const [name, args] of [
      ['read_file', { path }],
      ['write_file', { path, content: 'x' }],
      ['delete_file', { path }],
      ['move_file', { from: path, to: 'here' }],
      ['list_files', { path }],
    ] as const) {
      await expect(session.call(name, args)).rejects.toThrow('is outside the hub')
    }
    expect(await readFile(join(folder, 'secret'), 'utf8')).toBe('secret')
  })

  test('a sibling folder with a common name prefix is outside', async () => {
    await using session = await opened('file_ops')
    await mkdir(`${files}-2`)
    await expect(session.call('list_files', { path: '../files-2' })).rejects.toThrow('is outside the hub')
  })

  test('no link escapes the folder, existing or dangling', async () => {
    await using session = await opened('file_ops')
    const outside = join(folder, 'outside')
    await mkdir(files, { recursive: true })
    await mkdir(outside)
    await writeFile(join(outside, 'secret'), 'secret')
    await symlink(outside, join(files, 'way-out'))
    await symlink(join(outside, 'secret'), join(files, 'secret-link'))
    await symlink(join(outside, 'new'), join(files, 'dangling'))
    const refused = expect.stringContaining('is outside the hub')
    await expect(session.call('read_file', { path: 'secret-link' })).rejects.toMatchObject({ message: refused })
    await expect(session.call('read_file', { path: 'way-out/secret' })).rejects.toMatchObject({ message: refused })
    await expect(session.call('write_file', { path: 'way-out/new', content: 'x' })).rejects.toMatchObject({ message: refused })
    await expect(session.call('write_file', { path: 'way-out/deep/new', content: 'x' })).rejects.toMatchObject({
      message: refused,
    })
    await expect(session.call('list_files', { path: 'way-out' })).rejects.toMatchObject({ message: refused })
    // Writing replaces a link with a file, and deleting removes the link; neither follows it.
    await session.call('write_file', { path: 'dangling', content: 'inside' })
    await session.call('write_file', { path: 'secret-link', content: 'inside' })
    await session.call('delete_file', { path: 'way-out' })
    expect(await readdir(outside)).toEqual(['secret'])
    expect(await readFile(join(outside, 'secret'), 'utf8')).toBe('secret')
  })

  test('appending to a link that escapes the folder reads nothing from its target', async () => {
    await using session = await opened('file_ops')
    await mkdir(files, { recursive: true })
    await writeFile(join(folder, 'secret'), 'secret')
    await symlink(join(folder, 'secret'), join(files, 'link'))
    await expect(session.call('write_file', { path: 'link', content: 'x', append: true })).rejects.toThrow('is outside the hub')
  })

  test('errors include the next step and no paths of the machine', async () => {
    await using session = await opened('file_ops')
    await session.call('write_file', { path: 'dir/file', content: 'x' })
    const messages = await Promise.all(
      (
        [
          ['read_file', { path: 'missing.txt' }],
          ['read_file', { path: 'dir' }],
          ['read_file', { path: 'dir/file/deeper' }],
          ['delete_file', { path: 'dir' }],
          ['delete_file', { path: '.' }],
          ['write_file', { path: '.', content: '' }],
          ['write_file', { path: 'dir', content: '' }],
          ['move_file', { from: 'missing', to: 'x' }],
        ] as const
      ).map(([name, args]) => session.call(name, args).then(String, (error: Error) => error.message)),
    )
    expect(messages).toEqual([
      '"missing.txt" does not exist. Call list_files to see the existing files.',
      '"dir" is a folder. Name a file in it; list_files shows them.',
      '"dir/file/deeper" contains a component that is not a folder. Call list_files to see the existing files.',
      'The folder "dir" is not empty. Delete its contents first.',
      '"." is the folder itself. Name a file in it, such as "notes/today.txt".',
      '"." is the folder itself. Name a file in it, such as "notes/today.txt".',
      '"dir" is a folder. Name a file in it; list_files shows them.',
      '"missing" does not exist. Call list_files to see the existing files.',
    ])
    expect((await readdir(files)).filter((name) => name.endsWith('.tmp'))).toEqual([])
  })
})

describe('network', () => {
  const received: { method: string | undefined; type: string | undefined; body: Buffer }[] = []
  const pages: { readonly [path: string]: (request: IncomingMessage, response: ServerResponse) => void } = {
    '/page': (_, response) => response.setHeader('content-type', 'text/plain').end('a page'),
    '/large': (_, response) => response.end('x'.repeat(200_000)),
    '/moved': (_, response) => response.writeHead(302, { location: '/page' }).end(),
    '/circle': (_, response) => response.writeHead(302, { location: '/circle' }).end(),
    '/private': (_, response) => response.writeHead(302, { location: 'http://10.0.0.1/' }).end(),
    '/file': (_, response) => response.writeHead(302, { location: 'file:///etc/hostname' }).end(),
    '/silent': () => undefined,
    '/slow': (_, response) => void response.writeHead(200).write('partly'),
    '/broken': (_, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('partly')
      setTimeout(() => response.destroy(), 20)
    },
  }
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    received.push({ method: request.method, type: request.headers['content-type'], body: await buffer(request) })
    response.writeHead(201).end('taken')
  }
  const server = createServer((request, response) => {
    const page = pages[request.url ?? '']
    if (page !== undefined) return page(request, response)
    if (request.method === 'GET') return response.writeHead(404).end('not here')
    void take(request, response)
  })
  let site: string

  beforeEach(async () => {
    received.length = 0
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterEach(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })

  test('fetch_url returns the text, follows redirects and truncates long bodies', async () => {
    await using session = await opened('network')
    const page = { url: `${site}/page`, status: 200, type: 'text/plain', text: 'a page', truncated: false }
    expect(await session.data('fetch_url', { url: `${site}/page` })).toEqual(page)
    expect(await session.data('fetch_url', { url: `${site}/moved` })).toEqual(page)
    expect(await session.data('fetch_url', { url: `${site}/nowhere` })).toMatchObject({ status: 404, text: 'not here' })
    expect(await session.data('fetch_url', { url: `${site}/large`, maxBytes: 10 })).toMatchObject({
      text: 'x'.repeat(10),
      truncated: true,
    })
  })

  test('download saves a file atomically', async () => {
    await using session = await opened('network')
    expect(await session.data('download', { url: `${site}/large`, path: 'got/large.txt' })).toEqual({
      path: 'got/large.txt',
      bytes: 200_000,
      type: 'application/octet-stream',
    })
    expect((await readFile(join(files, 'got/large.txt'))).length).toBe(200_000)
    await expect(session.call('download', { url: `${site}/page`, path: 'got/large.txt' })).rejects.toThrow('overwrite: true')
    await expect(session.call('download', { url: `${site}/nowhere`, path: 'none.txt' })).rejects.toThrow('returned status 404')
    await expect(session.call('download', { url: `${site}/broken`, path: 'none.txt' })).rejects.toThrow('broke the connection')
    await expect(session.call('download', { url: `${site}/page`, path: '../out.txt' })).rejects.toThrow('is outside the hub')
    expect(await readdir(files)).toEqual(['got'])
    expect(await readdir(join(files, 'got'))).toEqual(['large.txt'])
    await session.call('download', { url: `${site}/page`, path: 'got/large.txt', overwrite: true })
    expect(await readFile(join(files, 'got/large.txt'), 'utf8')).toBe('a page')
  })

  test('upload sends a file and returns the response', async () => {
    await using session = await opened('file_ops', 'network')
    await session.call('write_file', { path: 'report.csv', content: 'a,b\n1,2\n' })
    expect(await session.data('upload', { path: 'report.csv', url: `${site}/in`, type: 'text/csv' })).toEqual({
      status: 201,
      bytes: 8,
      answer: 'taken',
    })
    expect(received).toEqual([{ method: 'PUT', type: 'text/csv', body: Buffer.from('a,b\n1,2\n') }])
    await expect(session.call('upload', { path: '../database.json', url: `${site}/in` })).rejects.toThrow('is outside the hub')
    await expect(session.call('upload', { path: 'missing', url: `${site}/in` })).rejects.toThrow('"missing" does not exist')
  })

  test('unsupported URLs are rejected with the reason', async () => {
    await using session = await opened('network')
    const refusal = (url: string) => session.call('fetch_url', { url }).then(String, (error: Error) => error.message)
    expect(await refusal('file:///etc/hostname')).toContain('Use http://')
    expect(await refusal('example')).toContain('is not a valid URL')
    expect(await refusal('http://192.168.1.1/')).toContain('in a private network')
    expect(await refusal('http://[fd00::1]/')).toContain('in a private network')
    expect(await refusal('http://0xa000001/')).toContain('10.0.0.1, in a private network')
    expect(await refusal(`${site}/private`)).toContain('in a private network')
    expect(await refusal(`${site}/file`)).toContain('Use http://')
    expect(await refusal(`${site}/circle`)).toContain('redirects more than 5 times')
    expect(await refusal('http://127.0.0.1:1/')).toContain('refuses connections')
  })

  test('a slow server times out, before and during the response', async () => {
    await using session = await connected(hub(100), { era: 'stateless' })
    await expect(session.call('fetch_url', { url: `${site}/silent` })).rejects.toThrow('took too long')
    await expect(session.call('fetch_url', { url: `${site}/slow` })).rejects.toThrow('took too long')
    await expect(session.call('download', { url: `${site}/slow`, path: 'slow' })).rejects.toThrow('took too long')
    expect(await readdir(files)).toEqual([])
  })

  test('private ranges are detected, including IPv4 inside IPv6, and loopback is not private', () => {
    const hidden = [
      '10.1.2.3',
      '172.31.0.1',
      '192.168.0.1',
      '169.254.169.254',
      '100.64.0.1',
      '0.0.0.0',
      'fd12::1',
      'fe80::1',
      '::ffff:10.0.0.1',
    ]
    expect(hidden.filter((address) => !isPrivate(address))).toEqual([])
    expect(['127.0.0.1', '::1', '93.184.215.14', '172.32.0.1', '2606:2800::1'].filter(isPrivate)).toEqual([])
  })
})

describe('database', () => {
  const people = {
    table: 'people',
    columns: [
      { name: 'name', type: 'text', required: true },
      { name: 'age', type: 'integer' },
    ],
  }
  const rows = [{ name: 'Ada', age: 36 }, { name: 'Grace', age: 85 }, { name: 'Linus' }]

  async function withPeople(): Promise<Connected> {
    const session = await opened('database')
    await session.call('create_table', people)
    await session.call('insert', { table: 'people', rows })
    return session
  }

  test('rows are inserted, found, updated, and persist for the next server', async () => {
    await using session = await opened('database')
    expect(await session.text('create_table', people)).toBe('Made table people: id, name, age.')
    expect(await session.data('insert', { table: 'people', rows })).toEqual({ ids: [1, 2, 3] })
    const found = await session.data('query', { table: 'people', where: [{ column: 'age', op: '>', value: 40 }] })
    expect(found).toEqual({ rows: [{ id: 2, name: 'Grace', age: 85 }], total: 1 })
    const ada = [{ column: 'name', op: '=', value: 'Ada' }]
    expect(await session.data('update', { table: 'people', set: { age: 37 }, where: ada })).toEqual({ updated: 1 })
    await using next = await opened('database')
    expect(
      await next.data('query', { table: 'people', columns: ['name', 'age'], orderBy: 'age', descending: true, limit: 2 }),
    ).toEqual({
      rows: [
        { name: 'Grace', age: 85 },
        { name: 'Ada', age: 37 },
      ],
      total: 3,
    })
  })

  test.each([
    ['=', 'age', null, ['Linus']],
    ['!=', 'age', 36, ['Grace', 'Linus']],
    ['<', 'age', 85, ['Ada']],
    ['<=', 'age', 85, ['Ada', 'Grace']],
    ['>', 'age', 36, ['Grace']],
    ['>=', 'age', 36.5, ['Grace']],
    ['contains', 'name', 'A', ['Ada', 'Grace']],
    ['in', 'name', ['Ada', 'Linus'], ['Ada', 'Linus']],
  ])('where %s', async (op, column, value, names) => {
    await using session = await withPeople()
    const found = await session.data<{ rows: { name: string }[] }>('query', {
      table: 'people',
      where: [{ column, op, value }],
    })
    expect(found.rows.map((row) => row.name)).toEqual(names)
  })

  test('errors explain the valid values', async () => {
    await using session = await withPeople()
    const refusal = (name: string, args: object) => session.call(name, { ...args }).then(String, (error: Error) => error.message)
    const where = (column: string, op: string, value: unknown) =>
      refusal('query', { table: 'people', where: [{ column, op, value }] })
    expect(await where('size', '=', 1)).toBe(
      'Table "people" has no column "size". It has: id (integer), name (text), age (integer).',
    )
    expect(await where('age', '=', 'old')).toBe('"age" is integer; "old" is not.')
    expect(await where('age', 'contains', 'x')).toBe('"contains" works on text, but "age" is integer.')
    expect(await where('age', 'in', 3)).toContain('Put the values in [ ]')
    expect(await where('age', '<', null)).toContain('use "=" with null')
    expect(await where('age', 'like', 3)).toContain('where.0.op')
    expect(await refusal('query', { table: 'pets' })).toBe('Unknown table "pets". Tables: people.')
    expect(await refusal('create_table', people)).toContain('Table "people" already exists')
    expect(await refusal('create_table', { table: 'x', columns: [{ name: 'id', type: 'text' }] })).toContain(
      'already has a column "id"',
    )
    expect(await refusal('create_table', { table: '__proto__', columns: people.columns })).toContain('must be a letter')
    expect(await refusal('insert', { table: 'people', rows: [{ age: 3 }] })).toContain('"name" is required')
    expect(await refusal('insert', { table: 'people', rows: [{ name: 'X', age: 1.5 }] })).toContain(
      '1.5 does not fit the column "age"',
    )
    expect(await refusal('insert', { table: 'people', rows: [{ id: 9, name: 'X' }] })).toContain('assigns the column "id"')
    expect(
      await refusal('update', { table: 'people', set: { name: null }, where: [{ column: 'id', op: '>', value: 0 }] }),
    ).toContain('is required')
    expect(await refusal('update', { table: 'people', set: { age: 1 }, where: [] })).toContain('where')
  })

  test('a rejected change leaves the database unchanged', async () => {
    await using session = await withPeople()
    const before = await readFile(join(folder, 'database.json'), 'utf8')
    await expect(session.call('insert', { table: 'people', rows: [{ name: 'New' }, { name: 3 }] })).rejects.toThrow(
      'does not fit',
    )
    expect(await readFile(join(folder, 'database.json'), 'utf8')).toBe(before)
    expect(await readdir(folder)).toEqual(['database.json'])
  })

  test('concurrent changes are all applied', async () => {
    await using session = await withPeople()
    await Promise.all(
      Array.from({ length: 20 }, (_, n) => session.call('insert', { table: 'people', rows: [{ name: `n${n}` }] })),
    )
    expect(await session.data('query', { table: 'people', limit: 1 })).toMatchObject({ total: 23 })
  })

  test('a corrupt file is reported, not overwritten', async () => {
    await writeFile(join(folder, 'database.json'), '{"tables": 3}')
    await using session = await opened('database')
    await expect(session.call('create_table', people)).rejects.toThrow('The database file is corrupt')
    expect(await readFile(join(folder, 'database.json'), 'utf8')).toBe('{"tables": 3}')
  })

  test('file tools cannot reach the database', async () => {
    await using session = await opened('file_ops', 'database')
    await session.call('create_table', people)
    await expect(session.call('delete_file', { path: '../database.json' })).rejects.toThrow('is outside the hub')
    expect(existsSync(join(folder, 'database.json'))).toBe(true)
  })
})
