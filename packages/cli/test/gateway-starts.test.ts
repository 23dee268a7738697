import { mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { jsonAt } from '@unfold-mcp/client/edit'
import { describe, expect, test, vi } from 'vitest'
import { type FakeLauncher, fakeLauncher, installing } from '../../client/test/launcher.ts'
import { until } from '../../client/test/processes.ts'
import { type Ended, type Home, home, servers } from './command.ts'
import { startGatewayProcess } from './gateway-process.ts'

// Each test starts several processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 300_000 })

const [node = '', deskFile = ''] = servers.desk
const desk = { command: node, args: [deskFile] }
const raw = fileURLToPath(new URL('../../gateway/test/servers/raw.mjs', import.meta.url))
const unlisted = { command: node, args: [raw, 'unlisted'] }

async function upstream(at: Home, name: string) {
  const { upstreams } = JSON.parse((await at.unfold(['status', '--json'])).stdout)
  return upstreams.find((each: { readonly name: string }) => each.name === name)
}

describe.skipIf(process.platform === 'win32')('a gateway whose servers are not installed yet', () => {
  test('shows progress, and prints a summary when the last server has settled', async () => {
    await using at = await home()
    await using npx = await fakeLauncher()
    const mcpServers = { desk, unlisted, station: npx.target('unset'), slow: npx.target('slow') }
    await using gateway = await startGatewayProcess(at, { mcpServers })
    // After ten seconds, with one server still being installed.
    const first = gateway.stderr()
    expect(first).toMatch(/desk {6}ready, 7 tools, \d+ ms/u)
    expect(first).toMatch(/unlisted {2}ready, tools\/list failed: not today \(-32603\)\n/u)
    expect(first).toMatch(
      /station {3}failed to start: STATION_TOKEN is not set\. Set it, or remove the server with "unfold remove station"\. \(attempt 1, next attempt in \d+ s\)\n/u,
    )
    expect(first).toMatch(/slow {6}installing, \d+ s, attempt 1\n/u)
    expect(first).not.toContain('\nServers: ')

    const status = (await at.unfold(['status'])).stdout
    expect(status).toMatch(/slow +installing +0 tools +installing, \d+ s, attempt 1, stderr: Downloading slow/u)
    expect(status.replaceAll(/\s+/gu, ' ')).toMatch(
      /unlisted degraded 0 tools 2025-11-25 .*ready, tools\/list failed: not today/u,
    )
    expect(await upstream(at, 'slow')).toMatchObject({ state: 'installing', forMs: expect.any(Number), attempt: 1 })
    expect(await upstream(at, 'unlisted')).toMatchObject({
      state: 'degraded',
      lastError: 'server "unlisted" is ready, tools/list failed: not today (-32603)',
    })
    // It is tried again every few seconds.
    await until(async () => /station +failed/u.test((await at.unfold(['status'])).stdout), 'status shows the failed server')
    let station: { readonly state?: string } = {}
    await until(async () => {
      station = await upstream(at, 'station')
      return station.state === 'failed'
    }, 'an attempt has failed')
    expect(station).toMatchObject({
      state: 'failed',
      attempt: expect.any(Number),
      lastError:
        'server "station" failed to start: STATION_TOKEN is not set. Set it, or remove the server with "unfold remove station".',
    })
    expect((await at.unfold(['logs', 'slow'])).stdout).toMatch(/slow installing, attempt 1/u)

    await npx.finish('slow')
    await until(() => /\nServers: [\s\S]*Clients see/u.test(gateway.stderr()), 'the summary is printed again')
    const [, again = ''] = gateway.stderr().split('\nServers: ')
    // The failed server may be in its next attempt.
    expect(again).toMatch(/^2 ready, 1 degraded, 1 (?:failed|installing|starting)\n/u)
    expect(again).toMatch(/ {2}slow {6}ready, 1 tool\n/u)
    expect(again).toMatch(/ {2}unlisted {2}ready, tools\/list failed: not today \(-32603\)\n/u)
    expect(again).toMatch(/ {2}station {3}(?:failed to start: STATION_TOKEN is not set|installing|starting)/u)
    expect(again).toMatch(/\d+ tools, \d+ tokens\. Clients see/u)
    const restarted = await at.unfold(['restart', 'slow'])
    expect(restarted).toMatchObject({ code: 0, stdout: 'Restarted slow: ready, 1 tool\n' })
    expect((await gateway.end()).code).toBe(0)
    expect(gateway.stderr().split('\nServers: ')).toHaveLength(2)
  })

  /** Three servers that clean up slowly, and a gateway that gets a signal while two of them are being installed. */
  async function endedBy(signal: NodeJS.Signals, at: Home, npx: FakeLauncher): Promise<Ended> {
    const env = { LAUNCHER_ROLLBACK_MS: '4000' }
    const mcpServers = Object.fromEntries(['a', 'b', 'c'].map((name) => [name, npx.target(name, env)]))
    await writeFile(join(at.folder, 'unfold.json'), JSON.stringify({ mcpServers }))
    let pid = 0
    const ended = at.unfold(['serve', '--http', '0'], { meanwhile: (child) => (pid = child.pid) })
    await installing(npx, 2)
    process.kill(pid, signal)
    return ended
  }

  const happened = async (npx: FakeLauncher, event: string): Promise<number> =>
    (await npx.events()).filter(({ what }) => what === event).length

  test.each(['SIGTERM', 'SIGINT'] as const)('stops on %s after they have cleaned up', async (signal) => {
    await using at = await home()
    await using npx = await fakeLauncher()
    const { code, stderr } = await endedBy(signal, at, npx)
    expect(code).toBe(0)
    expect(stderr).toMatch(/Stopping installations \(up to a minute\): \w, \w\n/u)
    expect(await npx.halfInstalled()).toEqual([])
    expect([await happened(npx, 'begun'), await happened(npx, 'rolled-back')]).toEqual([2, 2])
  })

  test('leaves cleanup to its guard process when killed', async () => {
    await using at = await home()
    await using npx = await fakeLauncher()
    await endedBy('SIGKILL', at, npx)
    await until(async () => (await npx.halfInstalled()).length === 0, 'they have cleaned up')
    expect([await happened(npx, 'begun'), await happened(npx, 'rolled-back')]).toEqual([2, 2])
  })
})

test('restart, disable and enable work by name, and stderr output can be read', async () => {
  await using at = await home()
  const loud = { command: node, args: ['-e', 'console.error("out of paper"); process.exit(3)'] }
  const held = { ...desk, env: { KEY: `\${NOWHERE_SET}` } }
  const text = `{
  // The desk.
  "mcpServers": { "desk": ${JSON.stringify(desk)}, "loud": ${JSON.stringify(loud)}, "held": ${JSON.stringify(held)} }
}`
  await using gateway = await startGatewayProcess(at, text)
  const { pid } = await upstream(at, 'desk')
  const restarted = await at.unfold(['restart', 'desk', '--json'])
  expect(JSON.parse(restarted.stdout)).toMatchObject({ restarted: 'desk', server: { state: 'ready' } })
  expect((await upstream(at, 'desk')).pid).not.toBe(pid)
  expect(await at.unfold(['restart', 'loud'])).toMatchObject({ code: 1, stdout: expect.stringContaining('out of paper') })
  expect(await at.unfold(['restart', 'dsk'])).toMatchObject({ code: 2, stderr: expect.stringContaining('Nearest: desk') })
  expect(await at.unfold(['restart', 'held'])).toMatchObject({ code: 1, stderr: expect.stringContaining('NOWHERE_SET') })
  expect((await at.unfold(['restart'])).code).toBe(2)

  expect(await at.unfold(['disable', 'desk'])).toMatchObject({ code: 0, stdout: 'Disabled desk\n' })
  // It is running when the command is done.
  expect(await upstream(at, 'desk')).toMatchObject({ state: 'disabled', tools: 0 })
  expect(await readFile(join(at.folder, 'unfold.json'), 'utf8')).toMatch(/The desk[\s\S]*"disabled": ?true/u)
  expect(await at.unfold(['disable', 'desk'])).toMatchObject({ code: 0, stdout: 'No changes.\n' })
  expect(await at.unfold(['restart', 'desk'])).toMatchObject({ code: 1, stderr: expect.stringContaining('unfold enable desk') })
  const enabled = JSON.parse((await at.unfold(['enable', 'desk', '--json'])).stdout)
  expect(enabled).toMatchObject({ name: 'desk', changed: true, reloaded: [gateway.pid] })
  await until(async () => (await upstream(at, 'desk')).state === 'ready', 'it is used again')
  expect(await readFile(join(at.folder, 'unfold.json'), 'utf8')).not.toContain('disabled')
  expect(await at.unfold(['enable', 'dsk'])).toMatchObject({ code: 2, stderr: expect.stringContaining('Nearest: desk') })

  expect(await at.unfold(['set', 'desk', 'timeoutMs=5000', 'description=The desk', 'env.PORT=80'])).toMatchObject({ code: 0 })
  expect(jsonAt(await readFile(join(at.folder, 'unfold.json'), 'utf8'), ['mcpServers', 'desk'])).toMatchObject({
    timeoutMs: 5_000,
    description: 'The desk',
    env: { PORT: '80' },
  })
  expect(await at.unfold(['set', 'desk', '--remove', 'env.PORT', '--remove', 'timeoutMs'])).toMatchObject({ code: 0 })
  expect(await at.unfold(['set', 'desk', 'timeotMs=1'])).toMatchObject({ code: 2, stderr: expect.stringContaining('timeoutMs') })
  expect((await at.unfold(['set', 'desk'])).code).toBe(2)

  const stderr = await at.unfold(['logs', 'loud', '--stderr'])
  expect(stderr.stdout).toMatch(/^\d\d:\d\d:\d\d loud out of paper\n/u)
  const { lines } = JSON.parse((await at.unfold(['logs', '--stderr', '--limit', '1', '--json'])).stdout)
  expect(lines).toMatchObject([{ upstream: expect.any(String), line: expect.any(String), at: expect.any(String) }])
  expect((await at.unfold(['logs', '--stderr', '--level', 'warn'])).code).toBe(2)
  let seen: () => string = () => ''
  const following = at.unfold(['logs', '--stderr', '--follow', '--jsonl', 'loud'], {
    meanwhile: (child) => (seen = () => child.stdout()),
  })
  await until(() => seen() !== '', 'earlier output')
  const before = seen().split('\n').length
  await at.unfold(['restart', 'loud'])
  await until(() => seen().split('\n').length > before, 'later output')
  expect((await gateway.end()).code).toBe(0)
  expect((await following).code).toBe(0)
})

describe.skipIf(process.platform === 'win32')('doctor', () => {
  const folderIn = (npx: FakeLauncher): string => join(npx.cache, '_npx', '5b2dd62b9d0bddd4')
  const alreadyConfigured = (path: string): Promise<boolean> =>
    stat(path).then(
      () => true,
      () => false,
    )

  test('reports an incomplete npx folder, and deletes it with --fix', async () => {
    await using at = await home()
    await using npx = await fakeLauncher()
    const folder = folderIn(npx)
    await mkdir(join(folder, 'node_modules'), { recursive: true })
    await npx.finish('damaged')
    await writeFile(join(at.folder, '.claude.json'), JSON.stringify({ mcpServers: { broken: npx.target('damaged') } }))
    await using gateway = await startGatewayProcess(at, { mcpServers: { broken: npx.target('damaged') } })
    expect(gateway.stderr()).toContain(`The npx folder ${folder} is incomplete. Delete it, or run "unfold doctor --fix".`)
    const found = await at.unfold(['doctor', '--json'])
    expect(found.code).toBe(1)
    expect(JSON.parse(found.stdout).findings).toContainEqual(
      expect.objectContaining({ about: 'broken', state: 'failed', npxFolder: folder, next: 'unfold doctor --fix' }),
    )
    expect(await at.unfold(['doctor', '--fix'])).toMatchObject({
      code: 6,
      stderr: expect.stringContaining('Nothing deleted.'),
    })
    expect(await alreadyConfigured(folder)).toBe(true)
    const fixed = await at.unfold(['doctor', '--fix', '--yes'])
    expect(fixed).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/Deleted .*5b2dd62b9d0bddd4[\s\S]*Restarting: broken/u),
    })
    expect(await alreadyConfigured(folder)).toBe(false)
    await until(async () => (await upstream(at, 'broken')).state === 'ready', 'the gateway has it')
    expect((await gateway.end()).code).toBe(0)
  })

  test('does not follow symbolic links when deleting', async () => {
    await using at = await home()
    await using npx = await fakeLauncher()
    const precious = join(at.folder, 'precious')
    await mkdir(precious)
    await mkdir(join(npx.cache, '_npx'), { recursive: true })
    await symlink(precious, folderIn(npx))
    await writeFile(join(at.folder, '.claude.json'), JSON.stringify({ mcpServers: { broken: npx.target('damaged') } }))
    const { code, stderr } = await at.unfold(['doctor', '--fix', '--yes'])
    expect(code).toBe(6)
    expect(stderr).toContain('is not an npx cache folder')
    expect(await alreadyConfigured(precious)).toBe(true)
  })
})
