import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { connect } from '@unfold-mcp/client'
import { expect, test } from 'vitest'
import { isAlive, until } from '../../packages/client/test/processes.ts'
import { shownAs } from './transcript.ts'

const { reproducible }: { reproducible: (text: string, run: { readonly url: string; readonly root: string }) => string } =
  await import(new URL('../../docs/pictures/reproducible.mjs', import.meta.url).href)
const { untilCalm }: { untilCalm: (main: string, env: NodeJS.ProcessEnv) => Promise<void> } = await import(
  new URL('../../docs/pictures/calm.mjs', import.meta.url).href
)

const root = fileURLToPath(new URL('../../', import.meta.url))
const desk = join(root, 'examples/gateway/desk')

test('npm start prints how to connect, serves the gateway, and stops all its processes on exit', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'unfold-start-'))
  const env = { ...process.env, UNFOLD_HOME: folder, UNFOLD_DEMO: folder, NO_COLOR: '1' }
  const start = [join(root, 'scripts/start.mjs'), '--port', '0']
  const child = spawn(process.execPath, start, { env, stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = once(child, 'exit')
  let text = ''
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  try {
    await until(() => text.includes('Dashboard') || child.exitCode !== null, 'the output shows how to stop the demo', 120_000)
    expect(text).toContain('Ctrl-C')
    const url = /http:\S+\/mcp/u.exec(text)?.[0] ?? ''
    await expect(shown(text, url)).toMatchFileSnapshot(shownAs('npm-start'))

    const main = join(root, 'packages/cli/dist/main.js')
    await untilCalm(main, env)
    const status = execFileSync(process.execPath, [main, 'status'], { env, encoding: 'utf8' })
    await expect(steady(status, url)).toMatchFileSnapshot(shownAs('gateway-status'))

    await using client = await connect({ url }, { protocol: 'session' })
    const { content } = await client.call('files__list_directory', { path: desk })
    expect(content).toMatchObject([{ text: expect.stringContaining('notes.md') }])
    await using reader = await connect({ url: `${url}/reading` })
    const names = (await reader.tools()).map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['files__read_text_file', 'code__analyze', 'read_result']))
    expect(names.filter((name) => !/^(?:files|code)__|^read_result$/u.test(name))).toEqual([])

    const started = childrenOf(child.pid)
    expect(started.length).toBeGreaterThanOrEqual(7)
    child.kill('SIGINT')
    expect(await ended).toEqual([0, null])
    await until(() => !started.some(isAlive), 'all child processes have exited')
  } finally {
    child.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
}, 600_000)

const childrenOf = (parent: number | undefined): readonly number[] =>
  execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.trim().split(/ +/u).map(Number))
    .flatMap(([pid, ppid]) => (pid !== undefined && ppid === parent ? [pid] : []))

const steady = (text: string, url: string): string => reproducible(text, { url, root })

/** Returns the output in a fixed order of servers. */
function shown(text: string, url: string): string {
  const lines = steady(text, url).trimEnd().split('\n')
  const [first = '', ...rest] = lines
  // In a fresh clone, install and build messages come in between.
  const serving = rest.slice(rest.findIndex((line) => line.startsWith('Serving ')))
  const isServer = (line: string): boolean => line.includes(' ready, ')
  const [head = '', ...others] = serving.filter((line) => !isServer(line))
  const all = [first, head, ...serving.filter(isServer).toSorted(), ...others]
  return `${all.join('\n')}\n`
}
