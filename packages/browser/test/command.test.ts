import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { needs } from '../../../test/needs.ts'
import { version } from '../src/base/version.ts'
import { chromiumArgs, chromiumPath, describeInChromium } from './chromium.ts'
import { startServer } from './generate-server.ts'
import { textOf } from './replies.ts'
import { type Site, startSite } from './site.ts'

const program = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const slow = { timeout: 300_000 }
const first = ['observe', 'query_dom']
const all = ['observe', 'query_dom', 'analyze', 'generate', 'configure']

let folder = ''
const started: Running[] = []

beforeAll(async () => {
  if (!existsSync(program)) throw new Error(`${program} does not exist. Run npm run build first.`)
  folder = await mkdtemp(join(tmpdir(), 'unfold-command-'))
  await mkdir(join(folder, 'tmp'))
})
afterEach(async () => {
  for (const each of started.splice(0)) await each.end('SIGKILL')
})
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }))

/** All files of the program go to the folder of this test. */
function surroundings(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  const { PATH = '', UNFOLD_BROWSER_PATH } = process.env
  const given = UNFOLD_BROWSER_PATH === undefined ? {} : { UNFOLD_BROWSER_PATH }
  return { PATH, HOME: folder, TMPDIR: join(folder, 'tmp'), TERM: 'xterm', ...given, ...more }
}

interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

interface Conditions {
  /** Arguments for Node itself. */
  readonly node?: readonly string[]
  readonly variables?: Readonly<Record<string, string>>
}

/** Runs the program until it exits. */
function run(args: readonly string[], { node = [], variables = {} }: Conditions = {}): Promise<Outcome> {
  const options = { env: surroundings(variables), cwd: folder, timeout: 120_000 }
  return new Promise((resolve) => {
    execFile(process.execPath, [...node, program, ...args], options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr })
    })
  })
}

/** A running program. */
class Running {
  readonly process: ChildProcess
  readonly ended: Promise<number | null>
  #output = ''

  constructor(command: string, args: readonly string[], stdin: 'pipe' | 'ignore' = 'ignore') {
    this.process = spawn(command, args, { env: surroundings(), cwd: folder, stdio: [stdin, 'pipe', 'pipe'] })
    for (const stream of [this.process.stdout, this.process.stderr])
      stream?.on('data', (chunk: Buffer) => {
        this.#output += chunk.toString()
      })
    this.ended = new Promise((resolve) => this.process.once('close', resolve))
    started.push(this)
  }

  /** Waits until the output matches. */
  async prints(what: RegExp): Promise<RegExpExecArray> {
    for (const end = Date.now() + 40_000; Date.now() < end; ) {
      const found = what.exec(this.#output)
      if (found !== null) return found
      if (this.process.exitCode !== null) break
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    throw new Error(`It never wrote ${what}, but: ${this.#output}`)
  }

  async end(signal: NodeJS.Signals): Promise<number | null> {
    if (this.process.exitCode === null && this.process.signalCode === null) this.process.kill(signal)
    return this.ended
  }
}

const command = (...args: readonly string[]): Running => new Running(process.execPath, [program, ...args])

/** The processes that use the folder of this test: the profile is in the arguments of a browser. */
async function browsers(): Promise<readonly string[]> {
  const listed = await new Promise<string>((resolve) => {
    execFile('ps', ['-eo', 'pid=,args='], { maxBuffer: 16 * 1024 * 1024 }, (_error, stdout) => resolve(stdout))
  })
  return listed.split('\n').filter((line) => line.includes(`--user-data-dir=${join(folder, 'tmp')}`))
}

/** Checks that no browser and no profile folder is left. */
async function expectNothingLeft(): Promise<void> {
  await expect.poll(browsers, { timeout: 120_000 }).toEqual([])
  const left = async () => (await readdir(join(folder, 'tmp'))).filter((name) => name.startsWith('unfold-browser-'))
  await expect.poll(left, { timeout: 120_000 }).toEqual([])
}

async function connected(transport: Transport, era: 'session' | 'stateless' = 'session'): Promise<Client> {
  const mode = era === 'session' ? 'legacy' : { pin: '2026-07-28' }
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } })
  await client.connect(transport)
  return client
}

const namesOf = async (client: Client): Promise<readonly string[]> =>
  (await client.listTools(undefined, { cacheMode: 'bypass' })).tools.map(({ name }) => name)

describe('the command, before it starts anything', () => {
  test('--help shows the purpose, options and exit codes', slow, async () => {
    const { code, stdout } = await run(['--help'])
    expect(code).toBe(0)
    for (const word of ['--open', '--http', '--attach', '--headless', '--profile', '--browser', '--output', 'Exit codes'])
      expect(stdout).toContain(word)
  })

  test('--version prints the version of the package', slow, async () => {
    expect(await run(['--version'])).toMatchObject({ code: 0, stdout: `${version}\n` })
  })

  test.each([
    [['--colour'], 'colour'],
    [['--http', '99999'], '--http requires a port between 0 and 65535'],
    [['one.example', 'two.example'], 'Only one page can be opened first, not 2'],
    [['one.example', '--open', 'two.example'], 'specified twice'],
    [['--open', 'http://'], 'is not a valid page URL'],
    [['--attach', 'http://127.0.0.1:9222', '--headless'], '--attach watches a browser that runs already'],
  ])('%j is a usage error: exit code 2, and what to do', slow, async (args, message) => {
    const { code, stdout, stderr } = await run(args)
    expect(stderr).toContain(message)
    expect(stderr).toContain('See unfold-browser --help.')
    expect([code, stdout]).toEqual([2, ''])
  })

  test('a missing browser is exit code 4', slow, async () => {
    const { code, stderr } = await run(['--browser', join(folder, 'no-browser')])
    expect(stderr).toContain('No executable at')
    expect(code).toBe(4)
    expect(await run([], { variables: { UNFOLD_BROWSER_PATH: join(folder, 'no-browser') } })).toMatchObject({ code: 4 })
  })

  test.skipIf(process.platform !== 'linux')(
    'on a machine without a browser the error says how to install one: exit code 4',
    slow,
    async () => {
      // The browsers of this machine are not in the locations searched on macOS.
      const asMac = 'data:text/javascript,Object.defineProperty(process, "platform", { value: "darwin" })'
      const { code, stderr } = await run([], { node: ['--import', asMac], variables: { UNFOLD_BROWSER_PATH: '' } })
      expect(stderr).toContain('brew install --cask chromium')
      expect(stderr).toContain('--browser <path>')
      expect(code).toBe(4)
    },
  )

  test('a program that is not a browser is exit code 4, with its output', slow, async () => {
    const { code, stderr } = await run(['--headless', '--browser', process.execPath])
    expect(stderr).toContain('could not be started')
    expect(code).toBe(4)
  })

  test('an unreachable browser, or one on another machine, is exit code 4', slow, async () => {
    const nothing = await run(['--attach', 'http://127.0.0.1:9'])
    expect(nothing.stderr).toContain('No browser could be reached at http://127.0.0.1:9')
    expect(nothing.stderr).toContain('--remote-debugging-port=9222')
    expect(nothing.code).toBe(4)
    const far = await run(['--attach', 'http://192.0.2.1:9222'])
    expect(far.stderr).toContain('is another machine')
    expect(far.code).toBe(4)
  })
})

describeInChromium('the command, with a browser', () => {
  let site: Site
  beforeAll(async () => {
    site = await startSite()
  })
  afterAll(() => site?.close())

  const transports: StdioClientTransport[] = []
  // The browser of a failed test must not affect the tests after it.
  afterEach(async () => {
    for (const each of transports.splice(0)) await each.close()
  })
  const stdio = (...args: readonly string[]): StdioClientTransport => {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [program, '--headless', ...args],
      env: surroundings(),
      cwd: folder,
      stderr: 'ignore',
    })
    transports.push(transport)
    return transport
  }

  test('over stdio a new server has two tools, and exits with its browser when the client disconnects', slow, async () => {
    const client = await connected(stdio())
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(first)
    expect(tools[0]?.inputSchema.properties).toMatchObject({ what: { enum: ['errors', 'logs', 'page'] } })
    expect(await browsers()).not.toEqual([])
    await client.close()
    await expectNothingLeft()
  })

  test('--open records a page from its first request', slow, async () => {
    const client = await connected(stdio('--open', `${site.url}/busy`))
    const seen = async (): Promise<string> =>
      textOf(await client.callTool({ name: 'observe', arguments: { what: 'logs', contains: 'the front page is here' } }))
    await expect.poll(seen, { timeout: 120_000 }).toContain('"text":"the front page is here"')
    expect(await namesOf(client)).toEqual(all)
    await client.close()
    await expectNothingLeft()
  })

  test('the first observation waits for the first page, which is not a user action', slow, async () => {
    let asked = (): void => undefined
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve
    })
    let release = (): void => undefined
    const isReleased = new Promise<void>((resolve) => {
      release = resolve
    })
    await using held = await startServer((_request, response) => {
      asked()
      void isReleased.then(() => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Here at last</p>'))
    })
    const client = await connected(stdio('--open', held.url))
    const observe = async (what: string): Promise<string> =>
      textOf(await client.callTool({ name: 'observe', arguments: { what } }))
    const page = observe('page')
    const network = observe('network')
    await isAsked
    // A call that does not need the page is answered meanwhile.
    const health = await client.callTool({ name: 'configure', arguments: { action: 'health' } })
    expect(textOf(health)).toContain("Call 'observe' first.")
    release()
    expect(await page).toContain('Here at last')
    expect(await network).toContain(held.url)
    expect(await observe('actions')).toContain('has no data now')
    const listed = (await client.listTools(undefined, { cacheMode: 'bypass' })).tools
    expect(listed.find(({ name }) => name === 'generate')?._meta?.available_modes).not.toContain('reproduction')
    await client.close()
    await expectNothingLeft()
  })

  test('waiting for a page that never loads times out', slow, async () => {
    const client = await connected(stdio('--open', `${site.url}/never`))
    const reply = await client.callTool({ name: 'observe', arguments: { what: 'logs' } }, { timeout: 120_000 })
    expect(textOf(reply)).toContain('No log entries so far')
    await client.close()
    await expectNothingLeft()
  })

  test('--no-counts omits the counts', slow, async () => {
    const client = await connected(stdio('--no-counts'))
    await client.callTool({ name: 'observe', arguments: { what: 'logs' } })
    for (const tool of (await client.listTools(undefined, { cacheMode: 'bypass' })).tools)
      expect(tool).not.toHaveProperty('_meta')
    await client.close()
    await expectNothingLeft()
  })

  test('--http shows how to connect, serves both eras on loopback, and SIGTERM ends it with its browser', slow, async () => {
    const running = command('--headless', '--http', '0', '--open', site.url)
    const [, url = ''] = await running.prints(/Serving on (http:\/\/127\.0\.0\.1:\d+\/mcp)/)
    await running.prints(/claude mcp add --transport http browser http:\/\/127\.0\.0\.1/)
    await running.prints(new RegExp(`Watching ${site.url}`))
    const session = await connected(new StreamableHTTPClientTransport(new URL(url)))
    const stateless = await connected(new StreamableHTTPClientTransport(new URL(url)), 'stateless')
    expect(await namesOf(session)).toEqual(first)
    expect(await namesOf(stateless)).toEqual(all)
    await session.callTool({ name: 'observe', arguments: { what: 'network' } })
    expect(await namesOf(session)).toEqual(all)
    await Promise.all([session.close(), stateless.close()])
    expect(await running.end('SIGTERM')).toBe(0)
    await expectNothingLeft()
  })

  test('a page that cannot be opened is reported, and the server continues', slow, async () => {
    const running = command('--headless', '--http', '0', '--open', 'http://127.0.0.1:9/')
    const [, url = ''] = await running.prints(/Serving on (\S+)/)
    await running.prints(/http:\/\/127\.0\.0\.1:9\/ could not be opened: .* Is its server running/)
    const client = await connected(new StreamableHTTPClientTransport(new URL(url)))
    expect(await namesOf(client)).toEqual(first)
    await client.close()
    expect(await running.end('SIGINT')).toBe(0)
    await expectNothingLeft()
  })

  test('a port in use is exit code 1 and leaves no browser behind', slow, async () => {
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    try {
      const address = taken.address()
      const port = typeof address === 'object' && address !== null ? address.port : 0
      const { code, stderr } = await run(['--headless', '--http', String(port)])
      expect(stderr).toContain(`Port ${port} on 127.0.0.1 is in use`)
      expect(code).toBe(1)
    } finally {
      await new Promise((resolve) => taken.close(resolve))
    }
    await expectNothingLeft()
  })

  test('a signal during the start of the browser leaves nothing behind', slow, async () => {
    const running = command('--headless', '--http', '0')
    const hasStarted = async (): Promise<number> => (await browsers()).length
    await expect.poll(hasStarted, { timeout: 120_000, interval: 20 }).toBeGreaterThan(0)
    expect(await running.end('SIGTERM')).toBe(0)
    await expectNothingLeft()
  })

  test('--attach records a running browser, and does not close it', slow, async () => {
    const profile = join(folder, 'own')
    const own = new Running(chromiumPath(), [
      ...chromiumArgs,
      '--headless',
      '--remote-debugging-port=0',
      `--user-data-dir=${profile}`,
      `${site.url}/second`,
    ])
    const [, port = ''] = await own.prints(/DevTools listening on ws:\/\/127\.0\.0\.1:(\d+)/)
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [program, '--attach', `http://127.0.0.1:${port}`],
      env: surroundings(),
      cwd: folder,
      stderr: 'ignore',
    })
    const client = await connected(transport)
    const page = async (): Promise<string> => textOf(await client.callTool({ name: 'observe', arguments: { what: 'page' } }))
    await expect.poll(page, { timeout: 120_000 }).toContain('Second page')
    await client.close()
    const answer = await fetch(`http://127.0.0.1:${port}/json/version`)
    expect(answer.ok).toBe(true)
    await own.end('SIGTERM')
  })

  const terminal = needs('script')
  // Only `script` on Linux has these options.
  test.skipIf(terminal.isMissing || process.platform !== 'linux')(
    `in a terminal a line prints what is buffered, and Ctrl-C ends it${terminal.note}`,
    slow,
    async () => {
      const line = `${process.execPath} ${program} --headless --http 0 ${site.url}/busy`
      const running = new Running('script', ['-qec', line, '/dev/null'], 'pipe')
      await running.prints(/Watching http/)
      await running.prints(/\[2K1 tab · \d+ logs \(\d+ errors\) · \d+ requests · 1 socket, \d+ events · \d+ actions?/)
      // Ctrl-C, as typed at a terminal.
      running.process.stdin?.write('\u0003')
      await running.ended
      await expectNothingLeft()
    },
  )

  test('a saved session is readable only by its user', slow, async () => {
    const client = await connected(stdio('--open', site.url))
    await client.callTool({ name: 'observe', arguments: { what: 'page' } })
    await client.callTool({ name: 'configure', arguments: { action: 'save', name: 'kept' } })
    await client.close()
    const path = join(folder, '.local', 'share', 'unfold', 'browser', 'sessions', 'kept.json')
    expect(JSON.parse(await readFile(path, 'utf8'))).toBeTypeOf('object')
    expect(process.platform === 'win32' ? 0 : (await stat(path)).mode & 0o077).toBe(0)
    await expectNothingLeft()
  })
})
