import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { type Home, home, run, servers } from './command.ts'

const modules = fileURLToPath(new URL('../../../node_modules', import.meta.url))
const compiler = join(modules, 'typescript', 'bin', 'tsc')

/** What `npm install` would do, with the packages of this repository. */
async function installed(folder: string): Promise<void> {
  await rm(join(folder, 'node_modules'), { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  await symlink(modules, join(folder, 'node_modules'))
}

async function compiled(folder: string): Promise<void> {
  expect(await run(process.execPath, [compiler, '-p', folder], { env: { PATH: process.env.PATH }, cwd: folder })).toEqual({
    code: 0,
    stdout: '',
    stderr: '',
  })
}

async function generated(at: Home, command: readonly string[], ...args: readonly string[]) {
  const folder = join(at.folder, 'made')
  const ended = await at.unfold(['generate', '--output', folder, '--json', ...args, '--', ...command])
  expect(ended).toMatchObject({ code: 0, stderr: '' })
  await installed(folder)
  return {
    folder,
    output: JSON.parse(ended.stdout),
    bin: (...callArgs: readonly string[]) =>
      run(process.execPath, [join(folder, 'bin.mjs'), ...callArgs], { env: at.env, cwd: at.folder }),
  }
}

test('a generated command line calls the tools, and its help works without the server', async () => {
  await using at = await home()
  const { bin, output } = await generated(at, servers.desk)
  expect(output).toMatchObject({ name: 'desk', tools: 7, variables: [] })
  expect(await bin('echo', '--text', 'hi')).toEqual({ code: 0, stdout: '{"text":"hi"}\n', stderr: '' })
  expect((await bin('--help')).stdout).toContain('Books a table')
  expect((await bin('book', '--help')).stdout).toContain('desk book --guests')
  expect((await bin('fail')).code).toBe(5)
  const wrong = await bin('bok')
  expect(wrong.code).toBe(5)
  expect(wrong.stderr).toContain('book')
  expect((await bin('book', '--guests', 'many')).code).toBe(2)
})

test('a typed client compiles in strict mode, runs, and rejects invalid arguments', async () => {
  await using at = await home()
  const { folder } = await generated(at, servers.everything)
  const use = `import { open } from './client.js'
await using client = await open()
const { content } = await client.echo({ message: 'typed' })
const weather = await client.getStructuredContent({ location: 'Chicago' })
const degrees: number | undefined = weather.structuredContent?.temperature
// @ts-expect-error the message is required
void (() => client.echo({}))
// @ts-expect-error unknown city
void (() => client.getStructuredContent({ location: 'Paris' }))
console.log(JSON.stringify([content, typeof degrees]))
`
  await writeFile(join(folder, 'src', 'use.ts'), use)
  await compiled(folder)
  const { stdout } = await run(process.execPath, [join(folder, 'dist', 'use.js')], { env: at.env, cwd: at.folder })
  expect(JSON.parse(stdout)).toEqual([[{ type: 'text', text: 'Echo: typed' }], 'number'])
})

test.each(['cycle', 'wide', 'pattern', 'names', 'control'])(
  'a server with unusual schemas (%s) becomes a client that compiles',
  async (what) => {
    await using at = await home()
    const { folder } = await generated(at, servers.odd(what))
    await compiled(folder)
  },
)

test('existing files are not overwritten without --force', async () => {
  await using at = await home()
  await mkdir(join(at.folder, 'made'))
  await writeFile(join(at.folder, 'made', 'mine.txt'), 'mine')
  const args = ['generate', '--output', 'made', '--', ...servers.desk]
  const refused = await at.unfold(args)
  expect(refused.code).toBe(2)
  expect(refused.stderr).toContain('--force')
  expect((await at.unfold([...args.slice(0, 3), '--force', ...args.slice(3)])).code).toBe(0)
  expect(await readFile(join(at.folder, 'made', 'mine.txt'), 'utf8')).toBe('mine')
})

test('secrets of a configuration are read from the environment, not written to files', async () => {
  await using at = await home()
  const { folder, output, bin } = await generated(at, servers.desk, '--env', 'DESK_KEY=very-secret-value')
  expect(output.variables).toEqual(['DESK_KEY'])
  for (const file of ['bin.mjs', 'src/client.ts', 'package.json', 'README.md'])
    expect(await readFile(join(folder, file), 'utf8')).not.toContain('very-secret-value')
  expect((await bin('echo')).stderr).toContain('DESK_KEY is not set.')
  await compiled(folder)
})
