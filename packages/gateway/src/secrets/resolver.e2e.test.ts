import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { secretReferencesIn } from '@unfold-mcp/core'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { until } from '../../../client/test/processes.ts'
import { SecretResolver } from './resolver.ts'
import { runSecretCommand, splitCommand } from './secret-command.ts'

vi.setConfig({ testTimeout: 300_000 })

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'unfold-secrets-'))
})
afterEach(() => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }))

const resolverFor = (): SecretResolver =>
  new SecretResolver({
    folder,
    home: folder,
    environment: { PATH: process.env.PATH, UNFOLD_PASSPHRASE_FILE: '/secret', GIVEN: 'given' },
    passphrase: () => Promise.reject(new Error('asked for a passphrase')),
  })

async function resolved(resolver: SecretResolver, text: string, isRefreshed = false): Promise<unknown> {
  const [reference] = secretReferencesIn(text)
  if (reference === undefined) throw new Error(`no reference in ${text}`)
  return (await resolver.resolve([reference], { isRefreshed }))(reference)
}

const run = (line: string, timeoutMs = 60_000) => runSecretCommand(line, { cwd: folder, environment: process.env, timeoutMs })

test('a command line is split at spaces and quotes, and nothing else is special', () => {
  expect(splitCommand(String.raw`  op read 'op://My Vault/x' "a 'b'" C:\x\$HOME;*|y '' `)).toEqual([
    'op',
    'read',
    'op://My Vault/x',
    "a 'b'",
    String.raw`C:\x\$HOME;*|y`,
    '',
  ])
  expect(splitCommand(`a 'b`)).toBeUndefined()
  expect(splitCommand('  ')).toEqual([])
})

test('AT-S13-9: a command runs without a shell, in the folder of the configuration, without the passphrase', async () => {
  const script = `console.log(process.argv.slice(2).join('|'), process.cwd(), process.env.GIVEN, process.env.UNFOLD_PASSPHRASE_FILE)`
  await writeFile(join(folder, 'show.mjs'), script)
  const line = `${process.execPath} show.mjs $(touch x) ;touch y`
  expect(await resolved(resolverFor(), `\${command:${line}}`)).toEqual({
    value: `$(touch|x)|;touch|y ${execFileSync('pwd', ['-P'], { cwd: folder }).toString().trim()} given undefined`,
  })
})

test.skipIf(process.platform === 'win32')('AT-S13-10: a command that hangs, floods or fails ends with its children', async () => {
  const pid = join(folder, 'pid')
  await writeFile(join(folder, 'hang.sh'), `sleep 1000 & echo $! > ${pid}; echo half; wait`)
  expect(await run('sh hang.sh', 3_000)).toEqual({ problem: 'did not end within 3 seconds.' })
  const child = Number(await readFile(pid, 'utf8'))
  await until(() => {
    try {
      return /^State:\s+Z/mu.test(execFileSync('cat', [`/proc/${child}/status`], { stdio: 'pipe' }).toString())
    } catch {
      return true
    }
  }, 'the child has ended')
  expect(await run('yes')).toEqual({ problem: 'printed more than 65536 bytes.' })
  expect(await run(`sh -c 'echo first >&2; echo not signed in >&2; exit 3'`)).toEqual({
    problem: 'failed (exit code 3): not signed in Run it in a terminal.',
  })
  expect(await run('true')).toEqual({ problem: 'printed nothing, or something other than UTF-8 text.' })
  expect(await run(`printf '\\377'`)).toEqual({ problem: 'printed nothing, or something other than UTF-8 text.' })
  expect(await run('no-such-program-1')).toEqual({
    problem: 'could not run: no-such-program-1 was not found. Install it, or use its full path.',
  })
})

test('commands run again only when asked to', async () => {
  const count = join(folder, 'count')
  await writeFile(
    join(folder, 'count.mjs'),
    `import { appendFileSync } from 'node:fs'; appendFileSync('count', 'x'); console.log('value')`,
  )
  const line = `\${command:${process.execPath} count.mjs}`
  const resolver = resolverFor()
  expect(await resolved(resolver, line)).toEqual({ value: 'value' })
  expect(await resolved(resolver, line)).toEqual({ value: 'value' })
  expect(await readFile(count, 'utf8')).toBe('x')
  expect(await resolved(resolver, line, true)).toEqual({ value: 'value' })
  expect(await readFile(count, 'utf8')).toBe('xx')
})

test.skipIf(process.platform === 'win32')('AT-S13-11: only small regular files are read', async () => {
  const at = (name: string): string => join(folder, name)
  execFileSync('mkfifo', [at('pipe')])
  await symlink('/dev/zero', at('zero'))
  await writeFile(at('large'), 'x'.repeat(70_000))
  await writeFile(at('empty'), '\n')
  await writeFile(at('good'), 'good-value\n', { mode: 0o600 })
  const problemOf = (name: string) => resolved(resolverFor(), `\${file:${name}}`)
  expect(await problemOf('pipe')).toEqual({ problem: `${at('pipe')} is a named pipe. Use a regular file.` })
  expect(await problemOf('zero')).toEqual({ problem: `${at('zero')} is a device. Use a regular file.` })
  expect(await problemOf('large')).toEqual({ problem: expect.stringContaining('larger than 65536 bytes') })
  expect(await problemOf('empty')).toEqual({ problem: `${at('empty')} is empty or not UTF-8 text.` })
  expect(await problemOf('none')).toEqual({ problem: `${at('none')} does not exist. Create it, or correct the path.` })
  expect(await problemOf('good')).toEqual({ value: 'good-value' })
  expect(await problemOf(at('good'))).toEqual({ value: 'good-value' })
  expect(await problemOf(' ')).toEqual({ problem: 'is empty. Add a path after the colon.' })
})
