import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { connect } from '@unfold-mcp/client'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { until } from '../../../client/test/processes.ts'
import { type Commanded, commanded } from '../faults/command.ts'
import { server } from '../upstreams.ts'
import { canSandbox } from './available.ts'

// Each test starts a gateway and several servers, on a machine that may be busy.
vi.setConfig({ testTimeout: 300_000 })

const repository = fileURLToPath(new URL('../../../../', import.meta.url))
const secret = 'kept-from-other-servers'
const stranger = 54_321
const asStranger = ['setpriv', `--reuid=${stranger}`, `--regid=${stranger}`, '--clear-groups']
const canBecome = process.getuid?.() === 0 && spawnSync('setpriv', [...asStranger.slice(1), 'true']).status === 0

/** Users that the gateway runs as: who runs the tests, and one without rights. */
const users = [{ user: 'this user', before: [] }, ...(canBecome ? [{ user: 'a user without rights', before: asStranger }] : [])]

const presets = ['strict', 'files'] as const

interface Escape extends AsyncDisposable {
  readonly gateway: Commanded
  /** Folder of the configuration, which is also the home folder of the user. */
  readonly home: string
  /** Pid of another server of the gateway, without a sandbox. */
  readonly neighbour: number
  /** Pid of the server in the strict sandbox. */
  readonly confined: number
  /** Runs code in a server, and returns its value or why it was refused. */
  readonly attempt: (server: string, code: string) => Promise<string>
}

/** A gateway with servers that an attacker controls: one in each sandbox, and one without. */
async function attacked(before: readonly string[]): Promise<Escape> {
  const { command, args } = server('hostage.mjs')
  const limits = { write: ['named'], read: ['notes'], network: false }
  const held = presets.map((preset) => [preset, { command, args, sandbox: { preset, ...limits }, env: { OWN: `own ${preset}` } }])
  const gateway = await commanded(
    // The results must show what the server could read.
    {
      exposure: 'everything',
      results: { secrets: 'off' },
      mcpServers: { ...Object.fromEntries(held), free: { command, args, env: { SECRET: secret } } },
    },
    { before, env: { GATEWAY_SECRET: secret }, prepare: (folder) => prepare(folder, before) },
  )
  const client = await connect({ url: gateway.url })
  await until(async () => (await client.refresh()).filter(({ name }) => name.endsWith('__run')).length === 3, 'all servers run')
  const { upstreams } = await gateway.status()
  return {
    gateway,
    home: gateway.at.folder,
    neighbour: upstreams.find(({ name }) => name === 'free')?.pid ?? 0,
    confined: upstreams.find(({ name }) => name === 'strict')?.pid ?? 0,
    async attempt(name, code) {
      const { content } = await client.call(`${name}__run`, { code })
      const [first] = content
      return first?.type === 'text' ? first.text : ''
    },
    async [Symbol.asyncDispose]() {
      await client.close()
      await gateway[Symbol.asyncDispose]()
    },
  }
}

async function prepare(folder: string, before: readonly string[]): Promise<void> {
  for (const name of ['named', 'notes', 'private']) {
    await mkdir(join(folder, name))
    await writeFile(join(folder, name, 'file.txt'), `content of ${name}`)
  }
  if (before.length === 0) return
  for (const path of [folder, ...['named', 'notes', 'private'].map((name) => join(folder, name))]) {
    await chmod(path, 0o755)
    await chown(path, stranger, stranger)
  }
}

const read = (path: string): string => `return require('fs').readFileSync(${JSON.stringify(path)}, 'utf8')`
const write = (path: string): string => `require('fs').writeFileSync(${JSON.stringify(path)}, 'x')`

/** Environments and command lines of all processes that it can read. */
const environments = `const fs = require('fs'); return fs.readdirSync('/proc').filter((name) => /^\\d+$/.test(name)).map((pid) => { try { return fs.readFileSync('/proc/' + pid + '/environ', 'latin1') + fs.readFileSync('/proc/' + pid + '/cmdline', 'latin1') } catch { return '' } }).join('')`

describe.skipIf(!canSandbox).each(users)('a server in a sandbox, with the gateway run by $user', ({ before }) => {
  let all: Escape | undefined
  beforeAll(async () => {
    all = await attacked(before)
  }, 300_000)
  afterAll(() => all?.[Symbol.asyncDispose]())
  const held = (preset: string) => {
    if (all === undefined) throw new Error('The gateway has not started.')
    const { attempt, ...rest } = all
    return { ...rest, attempt: (code: string) => attempt(preset, code) }
  }

  test.each(presets)('AT-S10-1: writes only to named folders, /tmp and an empty home (%s)', async (preset) => {
    const { home, attempt } = held(preset)
    for (const path of ['/usr/x', '/etc/x', '/x', '/var/x', '/opt/x', join(home, 'notes', 'x'), process.execPath])
      expect(`${path} ${await attempt(write(path))}`).toMatch(/ refused: (?:EROFS|EACCES|EPERM|ENOENT|ETXTBSY)$/u)
    // These exist in the sandbox only.
    for (const path of ['/tmp/mine', '/var/tmp/mine', join(home, 'mine'), join(home, 'unfold.json')]) await attempt(write(path))
    expect(await readFile('/tmp/mine').catch(() => 'missing')).toBe('missing')
    expect(await readFile('/var/tmp/mine').catch(() => 'missing')).toBe('missing')
    expect(await readFile(join(home, 'mine')).catch(() => 'missing')).toBe('missing')
    expect(await readFile(join(home, 'unfold.json'), 'utf8')).toContain('mcpServers')
    expect(await attempt(write(join(home, 'named', 'x')))).toBe('done: undefined')
    expect(await readFile(join(home, 'named', 'x'), 'utf8')).toBe('x')
  })

  test.each(presets)('AT-S10-2: reads named folders and not the rest of the home folder (%s)', async (preset) => {
    const { home, attempt } = held(preset)
    for (const path of ['private/file.txt', 'unfold/run', 'notes/../private/file.txt'])
      expect(`${path} ${await attempt(read(join(home, path)))}`).toBe(`${path} refused: ENOENT`)
    expect(await attempt(read(join(home, 'unfold.json')))).not.toContain('mcpServers')
    const link = `const fs = require('fs'); fs.symlinkSync(${JSON.stringify(join(home, 'private'))}, '/tmp/link'); return fs.readdirSync('/tmp/link')`
    expect(await attempt(link)).toBe('refused: ENOENT')
    const linked = `const fs = require('fs'); fs.symlinkSync(${JSON.stringify(join(home, 'private'))}, ${JSON.stringify(join(home, 'named', `link-${preset}`))}); return fs.readdirSync(${JSON.stringify(join(home, 'named', `link-${preset}`))})`
    expect(await attempt(linked)).toBe('refused: ENOENT')
    // The server may read its own program, which is in the repository.
    const isVisible = (path: string): boolean => [home, repository].some((each) => `${each}/`.startsWith(`${path}/`))
    for (const folder of ['/root', '/home', '/run', '/tmp', '/var/tmp']) {
      const seen = await attempt(`return require('fs').readdirSync(${JSON.stringify(folder)})`)
      const names = (await readdir(folder).catch(() => [])).filter((name) => !isVisible(join(folder, name)))
      for (const name of names) expect(seen).not.toContain(JSON.stringify(name))
    }
    for (const name of ['named', 'notes'])
      expect(await attempt(read(join(home, name, 'file.txt')))).toBe(`done: "content of ${name}"`)
  })

  test.each(presets)('AT-S10-3: connects to nothing without the network, not even to loopback (%s)', async (preset) => {
    const { gateway, home, attempt } = held(preset)
    const dial = (target: string): string =>
      `return new Promise((resolve, reject) => require('net').connect(${target}).once('connect', () => resolve('connected')).once('error', reject))`
    expect(await attempt(dial(`${gateway.port}, '127.0.0.1'`))).toMatch(/^refused: ECONN/u)
    expect(await attempt(dial(`53, '1.1.1.1'`))).toMatch(/^refused: (?:ENETUNREACH|EHOSTUNREACH)/u)
    const listener = createServer().listen('\0unfold-escape-test')
    await once(listener, 'listening').catch(() => undefined)
    expect(await attempt(dial(`'\\0unfold-escape-test'`))).toMatch(/^refused: /u)
    listener.close()
    const socket = createServer().listen(join(home, 'private', 'socket'))
    await once(socket, 'listening')
    expect(await attempt(dial(JSON.stringify(join(home, 'private', 'socket'))))).toBe('refused: ENOENT')
    socket.close()
  })

  test.each(presets)('AT-S10-4: sees and signals no other process, and no environment but its own (%s)', async (preset) => {
    const { gateway, neighbour, attempt } = held(preset)
    const seen = await attempt(environments)
    expect(seen).toContain(`own ${preset}`)
    expect(seen).not.toContain(`own ${preset === 'files' ? 'strict' : 'files'}`)
    expect(seen).not.toContain(secret)
    expect(seen).not.toContain(String.raw`\u0000serve\u0000`)
    for (const pid of [gateway.pid, neighbour]) {
      expect(pid).toBeGreaterThan(0)
      expect(await attempt(`process.kill(${pid}, 0)`)).toBe('refused: ESRCH')
      for (const file of ['environ', 'mem', 'cwd/unfold.json', 'root/etc/hostname', 'fd/0'])
        expect(`${file} ${await attempt(read(`/proc/${pid}/${file}`))}`).toBe(`${file} refused: ENOENT`)
    }
    expect(await attempt(`return require('fs').readdirSync('/proc').filter((name) => /^\\d+$/.test(name)).length < 10`)).toBe(
      'done: true',
    )
  })

  test.each(presets)('AT-S10-5: gains no privileges and cannot undo its mounts (%s)', async (preset) => {
    const { home, attempt } = held(preset)
    const status = await attempt(read('/proc/self/status'))
    expect(status).toContain(String.raw`NoNewPrivs:\t1`)
    expect(status).toContain(String.raw`CapEff:\t0000000000000000`)
    expect(status).toContain(String.raw`CapBnd:\t0000000000000000`)
    const shell = (line: string): string =>
      `return require('child_process').spawnSync('sh', ['-c', ${JSON.stringify(line)}]).status === 0`
    for (const line of [
      'mount -o remount,rw /',
      'mount -o remount,bind,rw /usr',
      `umount ${home}`,
      `umount -l /tmp`,
      'unshare -Ur mount -o remount,bind,rw /usr',
      `unshare -Urm umount ${home}`,
      `unshare -Urm umount /tmp`,
      'mknod /tmp/disk b 8 0 && cat /tmp/disk',
      'chroot / true',
      'nsenter -t 1 -m true',
      'ls -d /proc/1/cwd/../home/* | grep .',
    ])
      expect(`${line} ${await attempt(shell(line))}`).toBe(`${line} done: false`)
  })

  test('AT-S12-1: without a sandbox, as the guide says, it reads the environment of the gateway', async () => {
    const { gateway, confined, attempt } = held('free')
    expect(await attempt(read(`/proc/${gateway.pid}/environ`))).toContain(`GATEWAY_SECRET=${secret}`)
    expect(await attempt(read(`/proc/${confined}/environ`))).toContain('own strict')
  })
})
