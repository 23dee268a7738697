import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { canSandbox } from '../../gateway/test/sandbox/available.ts'
import { server } from '../../gateway/test/upstreams.ts'
import { home, servers } from './command.ts'

const { command, args = [] } = server('hostage.mjs')

test('unfold add --sandbox writes the preset, and refuses others and URLs', async () => {
  await using at = await home()
  const add = (...words: readonly string[]) => at.unfold(['add', ...words])
  expect(await add('desk', '--sandbox', 'strict', '--yes', '--', ...servers.desk)).toMatchObject({ code: 0 })
  const file = join(at.folder, 'unfold', 'unfold.json')
  expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ mcpServers: { desk: { sandbox: 'strict' } } })
  expect(await add('desk', '--sandbox', 'tight', '--yes', '--', ...servers.desk)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--sandbox must be none, files, strict, not "tight"'),
  })
  expect(await add('web', 'https://example.com/mcp', '--sandbox', 'strict', '--yes')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--sandbox requires a server started by a command'),
  })
})

describe.skipIf(process.platform !== 'linux')('a server with a sandbox in unfold.json, without a gateway', () => {
  test('AT-S10-16: the command does not run it without bubblewrap', async () => {
    await using at = await home()
    const file = join(at.folder, 'unfold.json')
    await writeFile(file, JSON.stringify({ sandbox: 'strict', mcpServers: { up: { command, args } } }))
    const { code, stderr } = await at.unfold(['list', 'up', '--config', file], { env: { PATH: '/nonexistent' } })
    expect(code).not.toBe(0)
    expect(stderr).toContain('Bubblewrap (bwrap) is not installed')
  })

  test('a mistake in it is reported, and the server is not run', async () => {
    await using at = await home()
    const file = join(at.folder, 'unfold.json')
    await writeFile(file, JSON.stringify({ mcpServers: { up: { command, args, sandbox: 'stict' } } }))
    const { code, stderr } = await at.unfold(['list', 'up', '--config', file])
    expect(code).not.toBe(0)
    expect(stderr).toContain('up.sandbox: must be "none", "files", "strict" or an object')
  })

  test.skipIf(!canSandbox)('AT-S10-17: the command runs it in its sandbox, and doctor shows it', async () => {
    await using at = await home()
    const file = join(at.folder, 'unfold.json')
    await mkdir(join(at.folder, 'named'))
    const sandbox = { write: ['named'] }
    await writeFile(file, JSON.stringify({ sandbox: 'strict', mcpServers: { up: { command, args, sandbox } } }))
    const attempt = (code: string) => at.unfold(['call', 'up', 'run', '--code', code, '--config', file])
    const write = (path: string): string => `require('fs').writeFileSync(${JSON.stringify(join(at.folder, path))}, 'x')`
    expect((await attempt(write('unfold.json'))).stdout).toContain('done')
    expect(await readFile(file, 'utf8')).toContain('mcpServers')
    expect((await attempt(write('named/file'))).stdout).toContain('done')
    expect(await readFile(join(at.folder, 'named', 'file'), 'utf8')).toBe('x')
    expect((await at.unfold(['doctor', '--config', file])).stdout).toMatch(/up: 1 tool.*sandbox strict/u)
  })
})
