import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connect } from '@unfold-mcp/client'
import { describe, expect, test, vi } from 'vitest'
import { until } from '../../../client/test/processes.ts'
import { commanded } from '../faults/command.ts'
import { runningGateway } from '../faults/running.ts'
import { processesWith } from '../faults/strays.ts'
import { gatewayFolder } from '../gateway-file.ts'
import { textOf } from '../result-text.ts'
import { server } from '../upstreams.ts'
import { canSandbox } from './available.ts'

vi.setConfig({ testTimeout: 300_000 })

const { command, args } = server('hostage.mjs')

describe.skipIf(!canSandbox)('the process of a server in a sandbox', () => {
  test('AT-S10-10: restarts when it dies or its sandbox changes, and then has the new limits', async () => {
    await using folder = await gatewayFolder()
    const named = join(folder.path, 'named')
    await mkdir(named)
    await using all = await runningGateway({ up: { command, args, sandbox: 'strict' } }, { folder: folder.path })
    await all.lists('up__run')
    await using client = await all.connect()
    const write = { code: `require('fs').writeFileSync(${JSON.stringify(join(named, 'file'))}, 'x')` }
    expect(textOf(await client.call('up__run', write))).toMatch(/^refused: /u)
    const before = all.gateway.upstreams.get('up')?.status.pid ?? 0
    await all.edit({ up: { command, args, sandbox: { preset: 'strict', write: ['named'] } } })
    const isRestarted = (old: number) => (): boolean => {
      const { pid = old, state } = all.gateway.upstreams.get('up')?.status ?? {}
      return pid !== old && state === 'ready'
    }
    await until(isRestarted(before), 'it was restarted')
    expect(textOf(await client.call('up__run', write))).toBe('done: undefined')
    expect(await readFile(join(named, 'file'), 'utf8')).toBe('x')
    const limited = all.gateway.upstreams.get('up')?.status
    expect(limited?.sandbox).toEqual({ preset: 'strict', network: false, read: [], write: [named] })
    process.kill(-(limited?.pid ?? 0), 'SIGKILL')
    await until(isRestarted(limited?.pid ?? 0), 'it runs again')
  })

  test.each(['tree', 'group', 'namespace'])(
    'AT-S10-11: gets SIGTERM before it is killed, and all that it started ends with it (processes: %s)',
    async (processes) => {
      const seconds = `600.${Math.floor(Math.random() * 1e9)}`
      await using all = await runningGateway({ up: { command, args, sandbox: 'files', processes } })
      await all.lists('up__run')
      await using client = await all.connect()
      const stray = `require('child_process').spawn('sleep', ['${seconds}'], { detached: true, stdio: 'ignore', env: {} }).unref()`
      await client.call('up__run', { code: stray })
      await until(async () => (await processesWith(`sleep\0${seconds}`)).length === 1, 'it runs')
      // Without this the server exits when its stdin closes.
      await client.call('up__run', { code: 'setInterval(() => undefined, 1000)' })
      await all.edit({})
      expect(all.of('stderr', 'up').map(({ line }) => line)).toContain('asked to end')
      await until(async () => (await processesWith(`sleep\0${seconds}`)).length === 0, 'it has ended')
    },
  )

  test('AT-S10-12: stops when it is idle and starts again with the next call, in its sandbox', async () => {
    await using all = await runningGateway({ up: { command, args, sandbox: 'strict', idleStopMs: 300 } })
    await all.lists('up__run')
    await using client = await all.connect()
    await all.reaches('up', 'idle')
    const status = textOf(
      await client.call('up__run', { code: `return require('fs').readFileSync('/proc/self/status', 'utf8')` }),
    )
    expect(status).toContain(String.raw`NoNewPrivs:\t1`)
  })
})

test.skipIf(!canSandbox)('AT-S10-18: the files of the gateway stay hidden in a named folder that contains them', async () => {
  await using gateway = await commanded(
    { exposure: 'everything', mcpServers: { up: { command, args, sandbox: { preset: 'strict', write: ['.'] } } } },
    { prepare: (folder) => writeFile(join(folder, 'file'), 'content') },
  )
  await until(async () => (await gateway.status()).upstreams[0]?.state === 'ready', 'it runs')
  await using client = await connect({ url: gateway.url })
  const attempt = async (code: string): Promise<string> => {
    const [first] = (await client.call('up__run', { code })).content
    return first?.type === 'text' ? first.text : ''
  }
  const { folder } = gateway.at
  const at = (name: string): string => JSON.stringify(join(folder, name))
  expect(await attempt(`return require('fs').readFileSync(${at('file')}, 'utf8')`)).toBe('done: "content"')
  expect(await attempt(`return require('fs').readFileSync(${at('unfold.json')}, 'utf8')`)).toMatch(
    /^refused: EACCES$|^done: ""$/u,
  )
  expect(await attempt(`require('fs').writeFileSync(${at('unfold.json')}, '{}')`)).toMatch(/^refused: |^done: undefined$/u)
  expect(await attempt(`require('fs').renameSync(${at('file')}, ${at('unfold.json')})`)).toMatch(/^refused: /u)
  expect(await attempt(`return require('fs').readdirSync(${at('unfold')})`)).toBe('done: []')
  expect(await readFile(join(folder, 'unfold.json'), 'utf8')).toContain('mcpServers')
})

describe.skipIf(process.platform !== 'linux')('a sandbox that cannot be enforced', () => {
  test('AT-S10-13: the server is not started without bubblewrap, with what to do, and others run', async () => {
    await using gateway = await commanded(
      { mcpServers: { up: { command, args, sandbox: 'strict' }, other: { command, args } } },
      { env: { PATH: '/nonexistent' } },
    )
    await until(async () => {
      const states = (await gateway.status()).upstreams.map(({ state }) => state)
      return states.includes('failed') && states.includes('ready')
    }, 'one runs')
    const { upstreams } = await gateway.status()
    expect(upstreams.find(({ name }) => name === 'up')).toMatchObject({
      state: 'failed',
      lastError: expect.stringMatching(/sandbox \("strict"\).*\(bwrap\) is not installed\. Install it.*set "sandbox": "none"/u),
    })
  })

  test('AT-S10-14: nor if bubblewrap is not allowed to create namespaces, with its reason', async () => {
    await using folder = await gatewayFolder()
    const program = join(folder.path, 'bwrap')
    await writeFile(program, '#!/bin/sh\necho "bwrap: setting up uid map: Permission denied" >&2\nexit 1\n', { mode: 0o755 })
    await using gateway = await commanded(
      { mcpServers: { up: { command, args, sandbox: 'files' } } },
      { env: { PATH: `${folder.path}:/usr/bin:/bin` } },
    )
    await until(async () => (await gateway.status()).upstreams[0]?.state === 'failed', 'it has failed')
    expect((await gateway.status()).upstreams[0]?.lastError).toContain('setting up uid map: Permission denied')
  })

  test.skipIf(!canSandbox)('AT-S10-15: nor if a named folder does not exist', async () => {
    await using gateway = await commanded({
      mcpServers: { up: { command, args, sandbox: { preset: 'files', write: ['missing'] } } },
    })
    await until(async () => (await gateway.status()).upstreams[0]?.state === 'failed', 'it has failed')
    const { lastError } = (await gateway.status()).upstreams[0] ?? {}
    expect(lastError).toMatch(/sandbox\.write: .*missing does not exist\. Create it, or remove it/u)
  })
})
