import { execFile } from 'node:child_process'
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { until } from '../../../client/test/processes.ts'
import { serveHttp } from '../../../client/test/servers.ts'
import { gatewayFolder } from '../gateway-file.ts'
import { textOf } from '../result-text.ts'
import { Peer } from './peer.ts'
import { runningGateway } from './running.ts'

const sqlite = { store: { kind: 'sqlite', path: 'catalog.db' } }

/** Runs a gateway in a folder once, so that its catalog is stored. */
async function learned(folder: string, servers: Readonly<Record<string, object>>, name: string): Promise<void> {
  await using all = await runningGateway(servers, { folder, rest: sqlite })
  await all.lists(name)
}

describe('a gateway that restarts', () => {
  test('serves its cached tools although no server starts, and later replaces them with one notification', async () => {
    await using folder = await gatewayFolder()
    let port: number
    {
      await using peer = await Peer.open('http', ['one', 'two'])
      port = peer.port
      await learned(folder.path, { up: peer.config() }, 'up__two')
    }
    // Accepts requests and never responds.
    const silent = await serveHttp(() => undefined, { port })
    const up = { url: `http://127.0.0.1:${port}/mcp`, type: 'http' }
    await using all = await runningGateway({ up }, { folder: folder.path, rest: sqlite })
    await using client = await all.connect()
    expect(await client.names()).toEqual(['up__one', 'up__two'])
    expect(all.state('up')).toBe('starting')
    await all.gateway.upstreams.ready
    await silent[Symbol.asyncDispose]()
    await using _peer = await Peer.open('http', ['two', 'three'], port)
    await until(() => client.notices === 1, 'the notice')
    expect(await client.names()).toEqual(['up__two', 'up__three'])
    expect(textOf(await client.call('up__three'))).toBe('three was called')
  })

  test.each([
    ['is corrupt', (file: string) => writeFile(file, 'This is not a database any more. '.repeat(200))],
    ['was written by a newer version', newer],
  ])('with a store that %s moves it aside, reports it, and lists the tools again', async (problem, spoil) => {
    await using folder = await gatewayFolder()
    const peer = await Peer.open('http')
    const up = peer.config()
    await spoil(join(folder.path, 'catalog.db'))
    {
      await using all = await runningGateway({ up }, { folder: folder.path, rest: sqlite })
      await all.lists('up__one')
      const [message] = all.messages.filter((each) => each.includes('catalog.db'))
      expect(message).toContain(problem)
      expect(message).toContain('.aside')
    }
    expect((await readdir(folder.path)).some((name) => name.endsWith('.aside'))).toBe(true)
    await peer[Symbol.asyncDispose]()
    await using again = await runningGateway({ up }, { folder: folder.path, rest: sqlite })
    expect(again.listed()).toEqual(['up__one'])
  })

  test.skipIf(process.getuid?.() === 0 || process.platform === 'win32')(
    'in a folder without write permission keeps the catalog in memory',
    async () => {
      await using folder = await gatewayFolder()
      await using peer = await Peer.open('http')
      const closed = join(folder.path, 'closed')
      await mkdir(closed, { mode: 0o500 })
      try {
        const rest = { store: { kind: 'sqlite', path: 'closed/catalog.db' } }
        await using all = await runningGateway({ up: peer.config() }, { folder: folder.path, rest })
        await all.lists('up__one')
        expect(all.messages.find((message) => message.includes('catalog.db'))).toContain('kept in memory')
      } finally {
        await chmod(closed, 0o700)
      }
    },
  )

  test('with a folder in place of its store keeps the catalog in memory, and reports it', async () => {
    await using folder = await gatewayFolder()
    await using peer = await Peer.open('http')
    const rest = { store: { kind: 'sqlite', path: '.' } }
    await using all = await runningGateway({ up: peer.config() }, { folder: folder.path, rest })
    await all.lists('up__one')
    expect(all.messages.find((message) => message.includes('kept in memory'))).toBeDefined()
  })
})

test('two gateways share one store, and the tools of both are known at the next start', async () => {
  await using folder = await gatewayFolder()
  const shared = { store: { kind: 'sqlite', path: join(folder.path, 'catalog.db') } }
  const first = await Peer.open('http', ['one'])
  const second = await Peer.open('listen', ['two'])
  {
    await using one = await runningGateway({ first: first.config() }, { rest: shared })
    await using other = await runningGateway({ second: second.config() }, { rest: shared })
    await Promise.all([one.lists('first__one'), other.lists('second__two')])
    first.put('more')
    second.put('more')
    await Promise.all([one.lists('first__more'), other.lists('second__more')])
    expect([...one.messages, ...other.messages].filter((message) => message.includes('catalog.db'))).toEqual([])
  }
  const servers = { first: first.config(), second: second.config() }
  await Promise.all([first[Symbol.asyncDispose](), second[Symbol.asyncDispose]()])
  await using all = await runningGateway(servers, { rest: shared })
  expect(all.listed()).toEqual(['first__one', 'first__more', 'second__two', 'second__more'])
})

/** Written by another process: a file opened in this one may stay open for a while. */
async function newer(file: string): Promise<void> {
  const libsql = JSON.stringify(createRequire(import.meta.url).resolve('libsql'))
  const work = `db.exec('PRAGMA application_id = 0x756e6664; PRAGMA user_version = 99; CREATE TABLE later (what)')`
  await promisify(execFile)(process.execPath, ['-e', `const db = new (require(${libsql}))(${JSON.stringify(file)}); ${work}`])
}
