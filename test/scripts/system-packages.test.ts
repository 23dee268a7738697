import { spawn } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const script = fileURLToPath(new URL('../../scripts/system-packages.mjs', import.meta.url))

const isDebian = await readFile('/etc/os-release', 'utf8').then(
  (system) => /^ID(?:_LIKE)?=.*\b(?:debian|ubuntu)\b/mu.test(system),
  () => false,
)

/** A folder used as PATH: its apt-get prints its arguments and "installs" empty files. */
async function fakeSystem() {
  const path = await mkdtemp(join(tmpdir(), 'unfold-packages-'))
  const programs = {
    'apt-get': `#!${process.execPath}
const { writeFileSync } = require('node:fs')
const [verb, ...args] = process.argv.slice(2)
const packages = args.filter((arg) => !/^-|::/.test(arg))
console.error(['apt-get', verb, ...packages].join(' '))
if (verb === 'install') for (const name of packages) if (name !== 'fish') writeFileSync(${JSON.stringify(path)} + '/' + name, '')`,
    sudo: `#!${process.execPath}
const { spawnSync } = require('node:child_process')
const args = process.argv.slice(2).filter((arg) => !/^-n$|=/.test(arg) || arg.includes('::'))
process.exit(args[0] === 'true' ? 0 : spawnSync(args[0], args.slice(1), { stdio: 'inherit' }).status)`,
    bash: '',
    bwrap: '',
    script: '',
  }
  for (const [name, text] of Object.entries(programs)) {
    await writeFile(join(path, name), text)
    await chmod(join(path, name), 0o755)
  }
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}

/** Runs the script and returns its output lines. */
async function printed(env: Record<string, string>): Promise<readonly string[]> {
  const child = spawn(process.execPath, [script], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  const code = await new Promise((resolve) => child.once('close', resolve))
  expect(code).toBe(0)
  return output.trimEnd().split('\n')
}

test.skipIf(!isDebian)(
  'each package is announced with its reason before apt-get runs, and what is still missing afterwards is named',
  async () => {
    await using system = await fakeSystem()
    const lines = await printed({ PATH: system.path, UNFOLD_BROWSER_PATH: process.execPath })
    expect(lines).toEqual([
      expect.stringMatching(/^Installing system packages with apt-get .*UNFOLD_NO_INSTALL=1/u),
      '  zsh: the completion tests run zsh',
      '  fish: the completion tests run fish',
      '  redis-server: the tests of several replicas run a real Redis',
      'apt-get update',
      'apt-get install zsh fish redis-server',
      'Tests that need the following programs are skipped (not found):',
      '  fish: the completion tests run fish.',
    ])
  },
)

test.skipIf(process.platform === 'win32')(
  'UNFOLD_NO_INSTALL=1 prevents the installation, and the skipped tests are named',
  async () => {
    await using system = await fakeSystem()
    const browser = join(system.path, 'no-browser')
    const lines = await printed({ PATH: system.path, UNFOLD_BROWSER_PATH: browser, UNFOLD_NO_INSTALL: '1' })
    expect(lines).toEqual([
      'Tests that need the following programs are skipped (UNFOLD_NO_INSTALL=1):',
      expect.stringMatching(/^ {2}Chromium: the browser tests run in a real browser\. Install it with .*UNFOLD_BROWSER_PATH\.$/u),
      '  zsh: the completion tests run zsh.',
      '  fish: the completion tests run fish.',
      '  redis-server: the tests of several replicas run a real Redis.',
    ])
  },
)

test('if UNFOLD_BROWSER_PATH is set, no browser is installed', async () => {
  await using system = await fakeSystem()
  for (const name of ['zsh', 'fish', 'redis-server', 'redis-cli']) await writeFile(join(system.path, name), '')
  const lines = await printed({ PATH: system.path, UNFOLD_BROWSER_PATH: join(system.path, 'no-browser') })
  expect(lines).toEqual([
    'Tests that need the following programs are skipped (not found):',
    expect.stringMatching(/^ {2}Chromium: /u),
  ])
})
