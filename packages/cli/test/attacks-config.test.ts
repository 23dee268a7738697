import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test, vi } from 'vitest'
import { until } from '../../client/test/processes.ts'
import { processesWith } from '../../gateway/test/faults/strays.ts'
import { home, servers } from './command.ts'
import { startGatewayProcess } from './gateway-process.ts'

// Each test starts several processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 300_000 })

const isWindows = process.platform === 'win32'

test('AT-R15-1: of 16 commands that edit unfold.json at once, each that reports success is in the file', async () => {
  await using at = await home()
  const file = join(at.folder, 'unfold.json')
  const disabled = { mcpServers: { old: { command: 'old', disabled: true }, other: { command: 'other' } } }
  await writeFile(file, JSON.stringify(disabled, null, 2))
  const added = Array.from({ length: 10 }, (_, index) => `s${index}`)
  const tokens = Array.from({ length: 4 }, (_, index) => `t${index}`)
  const results = await Promise.all([
    ...added.map((name) => at.unfold(['add', name, '--', 'server', name])),
    ...tokens.map((name) => at.unfold(['token', 'add', name])),
    at.unfold(['enable', 'old']),
    at.unfold(['remove', 'other']),
  ])
  expect(results.map(({ code }) => code)).toEqual(results.map(() => 0))
  const config = JSON.parse(await readFile(file, 'utf8'))
  expect(Object.keys(config.mcpServers).toSorted()).toEqual(['old', ...added])
  expect(config.mcpServers.old).toEqual({ command: 'old' })
  expect(config.tokens.map(({ name }: { name: string }) => name).toSorted()).toEqual(tokens)
  expect((await readdir(at.folder)).filter((name) => /lock|tmp/u.test(name))).toEqual([])
})

test('AT-R15-5: two commands that revoke the last two tokens at once do not open the gateway without confirmation', async () => {
  await using at = await home()
  const file = join(at.folder, 'unfold.json')
  await writeFile(file, '{}')
  for (const name of ['one', 'two']) await at.unfold(['token', 'add', name])
  const results = await Promise.all(['one', 'two'].map((name) => at.unfold(['token', 'revoke', name])))
  expect(results.filter(({ code }) => code === 0)).toHaveLength(1)
  expect(JSON.parse(await readFile(file, 'utf8')).tokens).toHaveLength(1)
})

test.skipIf(isWindows)('AT-R15-2: a named pipe as unfold.json is reported, and reload and SIGTERM still work', async () => {
  await using at = await home()
  const config = (names: readonly string[]) =>
    JSON.stringify({ mcpServers: Object.fromEntries(names.map((name) => [name, { command: 'none', disabled: true }])) })
  await using gateway = await startGatewayProcess(at, config(['one']))
  const file = join(at.folder, 'unfold.json')
  const pipe = async (): Promise<void> => {
    await rm(file)
    execFileSync('mkfifo', [file])
  }
  await pipe()
  await until(() => gateway.stderr().includes('a named pipe'), 'the gateway reports the pipe')
  const reloaded = await at.unfold(['reload'])
  expect(reloaded.code).not.toBe(0)
  expect(reloaded.stderr).toContain('unfold.json:1:1 is a named pipe, not a regular file. Replace it with a file')
  await rm(file)
  await writeFile(file, config(['one', 'two']))
  expect(await at.unfold(['reload'])).toMatchObject({ code: 0 })
  expect((await at.unfold(['status', '--json'])).stdout).toContain('"two"')
  await pipe()
  expect((await gateway.end('SIGTERM')).code).toBe(0)
})

test.skipIf(isWindows)('AT-R15-3: no command waits for a named pipe, whichever file it replaces', async () => {
  await using at = await home()
  const fifo = join(at.folder, 'fifo.json')
  execFileSync('mkfifo', [fifo])
  for (const args of [
    ['serve', fifo],
    ['add', 'x', '--config', fifo, '--', 'x'],
    ['import', '--from', fifo],
    ['token', 'list', '--config', fifo],
  ]) {
    const { stderr } = await at.unfold(args)
    expect({ args, stderr }).toEqual({ args, stderr: expect.stringContaining('a named pipe') })
  }
  expect((await at.unfold(['list', 'x', '--config', fifo])).stderr).toContain('Invalid files')
  await at.unfold(['list', '--', ...servers.desk])
  for (const folder of ['cache/tools', 'cache/completion'].map((name) => join(at.folder, 'unfold', name)))
    for (const name of await readdir(folder)) {
      await rm(join(folder, name))
      execFileSync('mkfifo', [join(folder, name)])
    }
  for (const name of ['tokens.json', 'approved.json']) execFileSync('mkfifo', [join(at.folder, 'unfold', name)])
  expect((await at.unfold(['list', '--', ...servers.desk])).code).toBe(0)
  expect((await at.unfold(['doctor'])).code).not.toBeNull()
})

test('AT-R15-4: ordinary values in the environment of a server stay readable in the log, secrets do not', async () => {
  await using at = await home()
  const [command = '', ...args] = servers.desk
  const env = { NODE_ENV: 'production', API_TOKEN: 'kp9-27fh-zz31', LOG_LEVEL: 'verbose', REGION: 'eu-central' }
  await using gateway = await startGatewayProcess(at, {
    mcpServers: { 'my-production': { command, args, env } },
    reload: 'always',
  })
  const broken = { command: 'no-such-kp9-27fh-zz31', args: ['verbose', 'eu-central'] }
  await writeFile(
    join(at.folder, 'unfold.json'),
    JSON.stringify({ mcpServers: { 'my-production': { command, args, env }, 'other-production': broken }, reload: 'always' }),
  )
  await at.unfold(['reload'])
  await until(() => gateway.stderr().includes('other-production'), 'the second server is logged')
  const { stdout } = await at.unfold(['logs', '--json'])
  const text = gateway.stderr() + stdout
  expect(text).toContain('my-production')
  expect(text).not.toContain('my-[secret]')
  expect(text).not.toContain('kp9-27fh-zz31')
})

test.skipIf(process.platform !== 'linux')('AT-R17-7: a command leaves no process of a server behind', async () => {
  await using at = await home()
  const mark = `stray-${randomUUID()}`
  const raw = fileURLToPath(new URL('../../gateway/test/servers/raw.mjs', import.meta.url))
  const args = ['list', '--env', `MARK=${mark}`, '--no-cache', '--', process.execPath, raw, 'strays']
  const { code, stdout } = await at.unfold(args)
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('more') })
  expect(await processesWith(mark)).toEqual([])
})
