import { access, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connect } from '@unfold-mcp/client'
import { expect, test } from 'vitest'
import { until } from '../../client/test/processes.ts'
import { type Home, home, main, servers } from './command.ts'

const [node = '', deskFile = ''] = servers.desk

/** An untrusted folder with servers in every known configuration file; each leaves a trace when it is started. */
async function untrusted({ folder }: Home) {
  const project = join(folder, 'project')
  await mkdir(join(project, '.cursor'), { recursive: true })
  await mkdir(join(project, '.git'))
  const trace = join(project, 'started')
  const leave = `require('node:fs').writeFileSync(${JSON.stringify(trace)}, 'x')`
  const evil = { command: node, args: ['-e', leave, '--token=sk-1234567890abcdef'], env: { A: `\${HOME}` } }
  const text = JSON.stringify({ mcpServers: { evil } })
  await writeFile(join(project, '.mcp.json'), text)
  await writeFile(join(project, 'unfold.json'), text)
  await writeFile(join(project, '.cursor', 'mcp.json'), text)
  const hasStarted = (): Promise<boolean> =>
    access(trace).then(
      () => true,
      () => false,
    )
  return { project, hasStarted }
}

test('AT-G87: in an untrusted folder no command starts anything without approval of exactly what is shown', async () => {
  await using at = await home()
  const { project, hasStarted } = await untrusted(at)
  const run = (...args: readonly string[]) => at.unfold(args, { cwd: project })
  const quiet = [
    ['list'],
    ['search', '--all', 'anything'],
    ['import', '--yes'],
    ['import', '--dry-run'],
    ['doctor'],
    ['connect', 'cursor', '--dry-run'],
    ['connect', 'claude', '--stdio', '--dry-run'],
    ['status'],
    ['__complete', 'call', 'evil', ''],
  ]
  const refused = [
    ['list', 'evil'],
    ['search', 'evil', 'anything'],
    ['describe', 'evil', 'x'],
    ['call', 'evil', 'x'],
    ['tree', 'evil'],
    ['watch', 'evil'],
    ['generate', 'evil'],
    ['serve'],
    ['serve', '--stdio'],
    ['serve', '--http', '0', '--no-input'],
  ]
  await Promise.all(quiet.map((args) => run(...args)))
  for (const args of refused) {
    const { code, stderr } = await run(...args)
    expect([args, code]).toEqual([args, 6])
    expect(stderr).toContain(node)
    expect(stderr).toContain('writeFileSync')
    expect(stderr).not.toContain('sk-1234567890')
  }
  expect(await hasStarted()).toBe(false)
  // No other command has approved it implicitly.
  await expect(access(join(at.folder, 'unfold', 'unfold.json'))).rejects.toThrow('ENOENT')
})

/** Serves the folder until it was reached, or is rejected. */
async function serveIn(at: Home, project: string, ...args: readonly string[]): Promise<{ code: number | null; stderr: string }> {
  let isReached: Promise<unknown> | undefined
  return at.unfold(['serve', '--http', '0', ...args], {
    cwd: project,
    meanwhile: (child) => {
      isReached = until(() => child.stderr().includes('Status: unfold status'), 'it serves')
        .catch(() => undefined)
        .finally(() => child.kill('SIGTERM'))
      void isReached
    },
  })
}

test('AT-G87: a configuration in the folder is served after approval, and needs a new one when its effects change', async () => {
  await using at = await home()
  const project = join(at.folder, 'project')
  await mkdir(project)
  const file = join(project, 'unfold.json')
  const write = (config: object): Promise<void> => writeFile(file, JSON.stringify(config))
  const desk = { command: node, args: [deskFile] }
  await write({ mcpServers: { desk } })
  expect((await serveIn(at, project, '--no-input')).code).toBe(6)
  const agreed = await serveIn(at, project, '--yes')
  expect(agreed.code).toBe(0)
  expect(agreed.stderr.indexOf(deskFile)).toBeGreaterThan(-1)
  expect(agreed.stderr.indexOf(deskFile)).toBeLessThan(agreed.stderr.indexOf('Serving '))
  // Edits that do not affect what is started need no approval.
  await write({ mcpServers: { desk: { ...desk, description: 'A desk' } }, exposure: 'search' })
  const again = await serveIn(at, project)
  expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining(deskFile) })
  for (const changed of [
    { mcpServers: { desk: { ...desk, args: [deskFile, 'more'] } } },
    { mcpServers: { desk }, store: { kind: 'sqlite', path: '../elsewhere.db' } },
    { mcpServers: { desk }, audit: { path: '../elsewhere.log' } },
    { mcpServers: { desk }, listen: { allowedOrigins: ['https://elsewhere.example'] } },
    { mcpServers: { desk }, listen: { host: '0.0.0.0' }, tokens: [{ name: 'elsewhere', hash: `sha256:${'0'.repeat(64)}` }] },
  ]) {
    await write(changed)
    const asked = await serveIn(at, project)
    expect(asked.code).toBe(6)
    expect(asked.stderr).toMatch(/more|elsewhere/u)
  }
  // An explicitly passed file needs no approval.
  const target = { command: process.execPath, args: [main, 'serve', file, '--stdio'], env: at.env as Record<string, string> }
  await using client = await connect({ ...target, cwd: project })
  expect((await client.tools()).length).toBeGreaterThan(0)
})
