import { createHash } from 'node:crypto'
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { serverFile } from '../../../test/bundled-servers.ts'
import { until } from '../../client/test/processes.ts'
import { type Home, home, main, processesWith, run, servers } from './command.ts'
import { startGatewayProcess } from './gateway-process.ts'
import { keys, person } from './terminal.ts'

// Each test starts several processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 300_000 })

const isWindows = process.platform === 'win32'
const vault = serverFile(new URL('servers/vault.mjs', import.meta.url))
const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex')

interface SecretHome extends Home {
  readonly passphrase: string
}

/** A home whose commands find the passphrase in a file. */
async function secretHome(): Promise<SecretHome> {
  const at = await home()
  const passphrase = join(at.folder, 'passphrase')
  await writeFile(passphrase, 'correct horse\n', { mode: 0o600 })
  const unfold: Home['unfold'] = (args, options = {}) =>
    at.unfold(args, { ...options, env: { UNFOLD_PASSPHRASE_FILE: passphrase, ...options.env } })
  return { ...at, unfold, passphrase, [Symbol.asyncDispose]: () => at[Symbol.asyncDispose]() }
}

const set = (at: Home, name: string, value: string, env = {}) =>
  at.unfold(['secret', 'set', name, '--store', 'file'], { stdin: `${value}\n`, env })

const vaultServer = (env: { readonly [name: string]: string }) => ({
  command: process.execPath,
  args: [vault],
  env: { ...env, VAULT_NAMES: Object.keys(env).join(',') },
})

async function digests(at: Home, url: string, tool = 'vault__digests'): Promise<{ readonly [name: string]: string }> {
  const { stdout, stderr } = await at.unfold(['call', url, tool, '--raw', '--json'])
  const text = /\{\\?"[A-Z_]+\\?":\\?"[0-9a-f]{64}.*?\}/u.exec(stdout)?.[0]
  if (text === undefined) throw new Error(stdout + stderr)
  return JSON.parse(text.replaceAll('\\"', '"'))
}

test('AT-S13-1: secrets from the store, a file and a command reach the server, and appear nowhere else', async () => {
  await using at = await secretHome()
  const stored = 'stored-secret-4711'
  const inFile = 'first-line-of-a-key\nsecond-line-of-a-key'
  const printed = 'printed by a command 99'
  expect(await set(at, 'team/vault', stored)).toMatchObject({ code: 0, stderr: '' })
  await writeFile(join(at.folder, 'key.pem'), `${inFile}\n`, { mode: 0o600 })
  await writeFile(join(at.folder, 'print.mjs'), `console.log(['printed', 'by', 'a', 'command', process.argv[2]].join(' '))`)
  await using gateway = await startGatewayProcess(at, {
    mcpServers: {
      vault: vaultServer({
        STORED: `\${keyring:team/vault}`,
        FILE: `\${file:key.pem}`,
        PRINTED: `\${command:${process.execPath} print.mjs 99}`,
      }),
    },
    audit: { path: 'audit.jsonl' },
  })
  expect(await digests(at, gateway.url)).toEqual({
    STORED: digestOf(stored),
    FILE: digestOf(inFile),
    PRINTED: digestOf(printed),
  })
  await at.unfold(['call', gateway.url, 'vault__leak'])
  const parts = [stored, ...inFile.split('\n'), printed]
  const outputs = await Promise.all(
    [
      ['status', '--json'],
      ['logs', '--json', '--level', 'debug'],
      ['logs', '--stderr', '--json'],
      ['secret', 'list', '--json'],
      ['list', '--json'],
      ['doctor', '--offline', '--json'],
    ].map((args) => at.unfold(args)),
  )
  expect(outputs[2]?.stdout).toContain('STORED is [secret]')
  const text = [gateway.stderr(), ...outputs.flatMap(({ stdout, stderr }) => [stdout, stderr])].join('\n')
  const audit = await readFile(join(at.folder, 'audit.jsonl'), 'utf8')
  for (const part of parts) {
    expect(text).not.toContain(part)
    expect(audit).not.toContain(part)
    expect(await processesWith(part)).toEqual([])
  }
  const files = (await readdir(join(at.folder, 'unfold'), { withFileTypes: true })).filter((each) => each.isFile())
  for (const { name } of files) {
    const bytes = await readFile(join(at.folder, 'unfold', name))
    for (const part of parts) expect(bytes.includes(part)).toBe(false)
  }
})

test('reload reads a changed file and restarts the server; without it, the server is not started and the others run', async () => {
  await using at = await secretHome()
  const file = join(at.folder, 'key')
  await writeFile(file, 'old-secret-value', { mode: 0o644 })
  const text = JSON.stringify(
    {
      mcpServers: {
        vault: vaultServer({ KEY: `\${file:key}` }),
        none: vaultServer({ KEY: `\${keyring:absent}` }),
        argument: { command: 'x', args: [`\${file:key}`] },
        desk: { command: servers.desk[0], args: servers.desk.slice(1) },
      },
    },
    null,
    2,
  )
  await using gateway = await startGatewayProcess(at, text)
  expect(gateway.stderr()).toMatch(/none +not started: .*There is no secret "absent"\. Store it: unfold secret set absent/u)
  expect(gateway.stderr()).toMatch(/argument +not started: .*not allowed in commands/u)
  expect(gateway.stderr().includes(`${file} is readable by other users. Run: chmod 600`)).toBe(!isWindows)
  const status = JSON.parse((await at.unfold(['status', '--json'])).stdout)
  const problem = status.notStarted.find(({ name }: { name: string }) => name === 'none').problems[0]
  const line = text.split('\n').findIndex((each) => each.includes('absent')) + 1
  expect(problem).toMatchObject({ path: 'mcpServers.none.env.KEY', line, column: expect.any(Number) })
  expect((await at.unfold(['call', gateway.url, 'desk__echo', '--text', 'hi'])).code).toBe(0)
  expect(await digests(at, gateway.url)).toEqual({ KEY: digestOf('old-secret-value') })

  await writeFile(file, 'new-secret-value\r\n')
  expect((await at.unfold(['reload'])).code).toBe(0)
  expect(await digests(at, gateway.url)).toEqual({ KEY: digestOf('new-secret-value') })
  expect(await set(at, 'absent', 'now-there-1234')).toMatchObject({ code: 0 })
  expect((await at.unfold(['reload'])).code).toBe(0)
  await until(async () => !(await at.unfold(['status', '--json'])).stdout.includes('"absent"'), 'the server has started')
  expect(await digests(at, gateway.url, 'none__digests')).toEqual({ KEY: digestOf('now-there-1234') })
  expect(gateway.stderr()).not.toMatch(/(?:old|new)-secret-value|now-there-1234/u)
})

test('AT-S13-2: a command that an edit adds does not run until a person approves it', async () => {
  await using at = await secretHome()
  const mark = join(at.folder, 'ran')
  await writeFile(
    join(at.folder, 'run.mjs'),
    `import { appendFileSync } from 'node:fs'; appendFileSync(process.argv[2], 'x'); console.log('command-output-1')`,
  )
  const config = (env: { readonly [name: string]: string }) => ({
    mcpServers: { vault: vaultServer(env), desk: { command: servers.desk[0], args: servers.desk.slice(1) } },
  })
  await using gateway = await startGatewayProcess(at, config({ KEY: 'plain-text-value' }))
  const command = `${process.execPath} run.mjs ${mark}`
  const edited = config({ KEY: `Bearer \${command:${command}}` })
  await writeFile(join(at.folder, 'unfold.json'), JSON.stringify(edited))
  await until(() => gateway.stderr().includes('waiting for approval: mcpServers.vault'), 'the edit was read')
  expect((await at.unfold(['reload'])).code).toBe(0)
  await expect(stat(mark)).rejects.toThrow('ENOENT')
  expect((await at.unfold(['call', gateway.url, 'desk__echo', '--text', 'hi'])).code).toBe(0)

  const reloading = person(['reload'], { env: at.env, cwd: at.folder, columns: 400 })
  await using _ = reloading
  await reloading.sees(`run.mjs ${mark}`)
  await reloading.sees('Approve 1 edit?')
  reloading.types('y')
  expect(await reloading.ended).toBe(0)
  expect(await digests(at, gateway.url)).toEqual({ KEY: digestOf('Bearer command-output-1') })
  expect(await readFile(mark, 'utf8')).toBe('x')
  // A different command needs another approval.
  await writeFile(join(at.folder, 'unfold.json'), JSON.stringify(config({ KEY: `\${command:${command} more}` })))
  await until(() => gateway.stderr().split('waiting for approval: mcpServers.vault').length === 3, 'the edit was read')
  expect(await readFile(mark, 'utf8')).toBe('x')
})

test('AT-S13-3: in the consent to a folder’s unfold.json, a command within a longer value is visible, also in an API key', async () => {
  await using at = await home()
  const folder = join(at.folder, 'project')
  await mkdir(folder)
  const mark = join(at.folder, 'ran')
  await writeFile(
    join(folder, 'unfold.json'),
    JSON.stringify({
      mcpServers: { a: { command: 'none', env: { LONG: `prefix-secret-\${command:touch ${mark}-1}` } } },
      search: { embedder: { url: 'http://127.0.0.1:9/v1', model: 'm', apiKey: `\${command:touch ${mark}-2}` } },
    }),
  )
  const refused = await at.unfold(['serve', '--http', '0'], { cwd: folder })
  expect(refused).toMatchObject({ code: 6 })
  expect(refused.stderr).toContain(`runs touch ${mark}-1`)
  expect(refused.stderr).toContain(`runs touch ${mark}-2`)
  expect(refused.stderr).not.toContain('prefix-secret')
  expect((await readdir(at.folder)).filter((name) => name.startsWith('ran'))).toEqual([])
})

test('AT-S13-4: of 8 secrets set at once, all are stored, and no lock or draft is left', async () => {
  await using at = await secretHome()
  const names = Array.from({ length: 8 }, (_, index) => `s${index}`)
  const results = await Promise.all(names.map((name) => set(at, name, `value-of-${name}`)))
  expect(results.map(({ code }) => code)).toEqual(names.map(() => 0))
  const { secrets } = JSON.parse((await at.unfold(['secret', 'list', '--json'])).stdout)
  expect(secrets.map(({ name }: { name: string }) => name)).toEqual(names)
  expect((await readdir(join(at.folder, 'unfold'))).filter((name) => /lock|tmp/u.test(name))).toEqual([])
  const { mode } = await stat(join(at.folder, 'unfold', 'secrets.json'))
  expect(isWindows || (mode & 0o777) === 0o600).toBe(true)
})

test('AT-S13-5: a wrong passphrase and a damaged store change nothing, and the message names the file and the next step', async () => {
  await using at = await secretHome()
  const file = join(at.folder, 'unfold', 'secrets.json')
  await set(at, 'one', 'value-one-1234')
  const before = await readFile(file, 'utf8')
  const wrong = join(at.folder, 'wrong')
  await writeFile(wrong, 'incorrect', { mode: 0o600 })
  const refused = await set(at, 'two', 'value-two', { UNFOLD_PASSPHRASE_FILE: wrong })
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(`The passphrase of ${file} is wrong.`) })
  expect(await readFile(file, 'utf8')).toBe(before)
  const config = { mcpServers: { vault: vaultServer({ KEY: `\${keyring:one}` }) } }
  await writeFile(join(at.folder, 'unfold.json'), JSON.stringify(config))
  const called = await at.unfold(['call', 'vault', 'digests', '--yes'], { env: { UNFOLD_PASSPHRASE_FILE: wrong } })
  expect(called.code).toBe(1)
  expect(called.stderr).toMatch(/unfold\.json:1 \$\{keyring:one\}: The passphrase of .* is wrong\./u)
  expect((await at.unfold(['call', 'vault', 'digests', '--yes'])).stdout).toContain(digestOf('value-one-1234'))

  for (const damaged of [before.slice(0, -20), '', '{}', before.replace('"file"', '"other"')]) {
    await writeFile(file, damaged)
    for (const args of [['set', 'two', '--store', 'file'], ['list'], ['remove', 'one']])
      expect(await at.unfold(['secret', ...args], { stdin: 'value-two' })).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(`${file} is damaged, or from a newer version. Restore it from a backup`),
      })
    expect(await readFile(file, 'utf8')).toBe(damaged)
  }
  if (isWindows) return
  await writeFile(file, before)
  await chmod(file, 0o666)
  expect((await at.unfold(['secret', 'list'])).stderr).toContain(`${file} is writable by other users. Run: chmod 600`)
})

test('a value comes from a hidden prompt or standard input, never from an argument; list shows names and uses', async () => {
  await using at = await home()
  const argument = await at.unfold(['secret', 'set', 'name', 'value-in-argument'])
  expect(argument).toMatchObject({ code: 2, stderr: expect.stringContaining('never from an argument') })
  const blocked = await at.unfold(['secret', 'set', 'name', '--store', 'file'], { stdin: 'x' })
  expect(blocked).toMatchObject({ code: 1, stderr: expect.stringContaining('UNFOLD_PASSPHRASE_FD or UNFOLD_PASSPHRASE_FILE') })

  const typing = person(['secret', 'set', 'typed', '--store', 'file'], { env: at.env, cwd: at.folder })
  await using _ = typing
  await typing.sees('Value of typed')
  typing.types(`typed-secret-1${keys.enter}`)
  await typing.sees('New passphrase')
  typing.types(`my passphrase${keys.enter}`)
  await typing.sees('Repeat the passphrase')
  typing.types(`my passphrase${keys.enter}`)
  await typing.sees('Stored typed')
  expect(await typing.ended).toBe(0)
  expect(typing.raw).not.toMatch(/typed-secret-1|my passphrase/u)

  const config = { mcpServers: { vault: vaultServer({ KEY: `\${keyring:typed}`, OTHER: `\${keyring:lost}` }) } }
  await writeFile(join(at.folder, 'unfold.json'), JSON.stringify(config))
  expect(JSON.parse((await at.unfold(['secret', 'list', '--json'])).stdout)).toEqual({
    file: join(at.folder, 'unfold.json'),
    secrets: [{ name: 'typed', store: 'file', uses: ['mcpServers.vault.env.KEY'] }],
    missing: [{ name: 'lost', uses: ['mcpServers.vault.env.OTHER'] }],
  })
  expect((await at.unfold(['secret', 'remove', 'type'])).stderr).toContain('There is no secret "type".')
  expect((await at.unfold(['secret', 'remove', 'typed'])).code).toBe(0)
  expect((await at.unfold(['secret', 'list'])).stdout).toMatch(/^typed +missing/u)
})

test.skipIf(isWindows)('the passphrase can come from a file descriptor', async () => {
  await using at = await home()
  const env = { ...at.env, UNFOLD_PASSPHRASE_FD: '3' }
  const shell = (line: string, stdin = '') =>
    run('/bin/sh', ['-c', line, 'sh', process.execPath, main], { env, cwd: at.folder, stdin })
  const stored = await shell(
    `printf 'by descriptor' | "$1" "$2" secret set one --store file 3<&0 0<value`.replace('0<value', '</dev/null'),
  )
  expect(stored.stderr).toContain('The value is empty.')
  await writeFile(join(at.folder, 'value'), 'value-one-1234')
  expect(await shell(`printf 'by descriptor' | "$1" "$2" secret set one --store file 3<&0 0<value`)).toMatchObject({ code: 0 })
  const config = { mcpServers: { vault: vaultServer({ KEY: `\${keyring:one}` }) } }
  await writeFile(join(at.folder, 'unfold.json'), JSON.stringify(config))
  const called = await shell(`printf 'by descriptor' | "$1" "$2" call vault digests --yes 3<&0 0</dev/null`)
  expect(called.stdout).toContain(digestOf('value-one-1234'))
  const wrong = await shell(`printf 'something else' | "$1" "$2" call vault digests --yes 3<&0 0</dev/null`)
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('is wrong.') })
})
