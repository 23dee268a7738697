import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { createConnection, createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { connect } from '@unfold-mcp/client'
import { expect, test } from 'vitest'
import { home, main, run } from '../../../cli/test/command.ts'
import { until } from '../../../client/test/processes.ts'
import { commanded } from './command.ts'

// Stack traces are not for users.
const trace = /^\s+at .*[:(]\d+/mu
const isPosix = process.platform !== 'win32'
const small = { command: 'sh', args: [fileURLToPath(new URL('tree.sh', import.meta.url))] }
const limited = (files: number): readonly string[] => ['sh', '-c', `ulimit -n ${files} && exec "$@"`, 'sh']

/** Whether a socket can listen at this address. */
async function canListen(host: string): Promise<boolean> {
  const server = createServer()
  server.listen(0, host)
  return once(server, 'listening').then(
    () => server.close() !== undefined,
    () => false,
  )
}

test.skipIf(!isPosix)(
  'AT-I115: if too few files can be opened, servers that do not fit are reported, others and their clients continue, and closed connections leave nothing behind',
  async () => {
    const mcpServers = Object.fromEntries(Array.from({ length: 14 }, (_, at) => [`up${at}`, small]))
    await using gateway = await commanded({ exposure: 'everything', mcpServers }, { before: limited(64) })
    await using client = await connect({ url: gateway.url })
    await until(() => gateway.stderr().includes('Status: unfold status'), 'it has started')
    const { upstreams } = await gateway.status()
    const lacking = upstreams.filter(({ state }) => state !== 'ready')
    expect(lacking.length).toBeGreaterThan(0)
    expect(lacking.length).toBeLessThan(14)
    for (const { lastError } of lacking) expect(lastError).toMatch(/Too many open files\. Raise the limit \(ulimit -n\)/u)
    await client.refresh()
    const connections = Array.from({ length: 100 }, () =>
      createConnection(gateway.port, '127.0.0.1').on('error', () => undefined),
    )
    // The requests keep the client's connection from expiring while the others connect.
    await until(async () => {
      expect((await client.refresh()).length).toBeGreaterThan(1)
      return connections.every((each) => !each.connecting)
    }, 'all are connected')
    expect((await client.refresh()).length).toBeGreaterThan(1)
    for (const each of connections) each.destroy()
    await until(
      async () => (await fetch(new URL('/healthz', gateway.url)).catch(() => undefined))?.status === 200,
      'it can be reached',
    )
    expect(gateway.child.exitCode).toBeNull()
    expect(gateway.stderr()).not.toMatch(trace)
  },
)

test.skipIf(!isPosix)('AT-I115: if it cannot be loaded, the reason is printed in one line', async () => {
  await using at = await home()
  const [program = '', ...before] = limited(24)
  // The published files, which are many.
  const published = fileURLToPath(new URL('../../../cli/bundle/main.js', import.meta.url))
  const { code, stderr } = await run(program, [...before, process.execPath, published, 'list'], { cwd: at.folder, env: at.env })
  // Node versions differ in the number of files open while loading a program: in some it works.
  expect(`${code} ${stderr}`).toMatch(/^(?:0 |1 error: EMFILE.*\n$)/u)
  expect(stderr).not.toMatch(trace)
})

test('AT-I115: a port in use is reported, with what to do', async () => {
  await using gateway = await commanded({})
  const { code, stderr } = await gateway.at.unfold([
    'serve',
    join(gateway.at.folder, 'unfold.json'),
    '--http',
    String(gateway.port),
  ])
  expect(code).toBe(1)
  expect(stderr).toMatch(new RegExp(`^error: Port ${gateway.port} is in use by the gateway with pid \\d+, .*another port`, 'mu'))
  expect(stderr).not.toMatch(trace)
})

test.skipIf(!(await canListen('::1')))('AT-I115: with IPv6 only, it is reachable by clients and commands', async () => {
  await using gateway = await commanded({ exposure: 'everything', listen: { host: '::1' } })
  expect(gateway.url).toBe(`http://[::1]:${gateway.port}/mcp`)
  await using client = await connect({ url: gateway.url })
  expect((await client.tools()).map(({ name }) => name)).toEqual(['read_result'])
  expect((await gateway.status()).url).toBe(gateway.url)
  await expect(fetch(`http://127.0.0.1:${gateway.port}/healthz`)).rejects.toThrow('fetch failed')
})

/** A user without an entry in the user database. */
const unknownUser = 54_321
const as = (user: number): readonly string[] => ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups']
const canBecome = process.getuid?.() === 0 && spawnSync('setpriv', [...as(unknownUser).slice(1), 'true']).status === 0

test.skipIf(!canBecome)(
  'AT-I115: an unknown user gets an error that says what to set, and is served once that is done',
  async () => {
    await using at = await home()
    await chmod(at.folder, 0o755)
    const own = join(at.folder, 'own')
    await mkdir(own)
    await chmod(own, 0o777)
    const [program = '', ...before] = as(unknownUser)
    const alone = await run(program, [...before, process.execPath, main, 'list'], { cwd: own, env: { PATH: process.env.PATH } })
    expect(alone).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^error: No home folder found for user 54321\. Set HOME or UNFOLD_HOME.*\n$/u),
    })
    await writeFile(join(own, 'unfold.json'), '{}')
    const env = { PATH: process.env.PATH, UNFOLD_HOME: own }
    let stderr: () => string = () => ''
    const served = run(program, [...before, process.execPath, main, 'serve', 'unfold.json', '--http', '0'], {
      cwd: own,
      env,
      meanwhile: (child) => {
        stderr = () => child.stderr()
        void until(() => stderr().includes('Status: unfold status'), 'it serves')
          .catch(() => undefined)
          .finally(() => child.kill('SIGTERM'))
      },
    })
    expect(await served).toMatchObject({ code: 0, stderr: expect.stringContaining('Serving ') })
    expect(stderr()).not.toMatch(/warn|error/u)
  },
)
