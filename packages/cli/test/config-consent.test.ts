import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connect } from '@unfold-mcp/client'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { until } from '../../client/test/processes.ts'
import { runningGateways } from '../../gateway/src/run-file.ts'
import { type Home, home, servers } from './command.ts'
import { type GatewayProcess, startGatewayProcess } from './gateway-process.ts'
import { person } from './terminal.ts'

// Several processes per test, on a machine that may be busy.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

const [node, desk = ''] = servers.desk
const commandOf = ([command, ...args]: readonly string[]) => ({ command, args })

/** A home, and in it a project whose `unfold.json` a server for files can write. The user's data is elsewhere. */
async function projectHome() {
  const at = await home()
  const folder = join(at.folder, 'project')
  await mkdir(folder)
  const mark = join(at.folder, 'started')
  await writeFile(
    join(folder, 'mark.mjs'),
    `import { appendFileSync } from 'node:fs'; appendFileSync(${JSON.stringify(mark)}, 'x'); await import(${JSON.stringify(desk)})`,
  )
  const unfold: Home['unfold'] = (args, options = {}) => at.unfold(args, { cwd: folder, ...options })
  return { ...at, folder, unfold, file: join(folder, 'unfold.json'), mark }
}

type Project = Awaited<ReturnType<typeof projectHome>>

const marking = { command: node, args: ['mark.mjs'] }
const config = (project: Project) => ({
  mcpServers: {
    files: commandOf(servers.files(project.folder)),
    desk: commandOf(servers.desk),
    spare: { ...commandOf(servers.desk), start: 'lazy' },
  },
  exposure: 'everything',
})

/** Starts a gateway as a service would: without a terminal. */
const startService = (project: Project, content?: object, args: readonly string[] = []): Promise<GatewayProcess> =>
  startGatewayProcess(project, content, ['unfold.json', ...args])

/** Writes `unfold.json` as a model would, with a tool. */
async function writeByTool(project: Project, { url }: GatewayProcess, content: object): Promise<void> {
  await using client = await connect({ url })
  const result = await client.call('files__write_file', { path: project.file, content: JSON.stringify(content) })
  if (result.isError === true) throw new Error(JSON.stringify(result))
}

/** Calls a tool of a server; false if that fails. */
async function serves({ url }: GatewayProcess, server: string): Promise<boolean> {
  await using client = await connect({ url })
  return await client.call(`${server}__echo`, { text: 'hi' }).then(
    ({ isError }) => isError !== true,
    () => false,
  )
}

interface Status {
  readonly edits: readonly string[]
  readonly notStarted: readonly { readonly name: string; readonly problems: readonly { readonly message: string }[] }[]
  readonly upstreams: readonly { readonly name: string; readonly state: string; readonly pid?: number }[]
}

async function api(project: Project, path: string, init: RequestInit = {}): Promise<unknown> {
  const [running] = await runningGateways(project.env.UNFOLD_HOME ?? '')
  if (running === undefined) throw new Error('No gateway is running.')
  const headers = { authorization: `Bearer ${running.admin}` }
  return (await fetch(new URL(`/api/${path}`, running.url), { headers, ...init })).json()
}

const statusOf = (project: Project): Promise<Status> => api(project, 'status') as Promise<Status>
const waits = (project: Project, ...paths: readonly string[]): Promise<void> =>
  until(async () => JSON.stringify((await statusOf(project)).edits) === JSON.stringify(paths), `${paths.join()} waits`)
const starts = ({ mark }: Project): Promise<void> => until(() => stat(mark).then(Boolean, () => false), 'the server was started')
const hasStarted = ({ mark }: Project): Promise<boolean> => stat(mark).then(Boolean, () => false)

let project: Project
let gateway: GatewayProcess

beforeAll(async () => {
  project = await projectHome()
  gateway = await startService(project, config(project))
})

afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await project[Symbol.asyncDispose]()
})

beforeEach(async () => {
  await writeFile(project.file, JSON.stringify(config(project)))
  await api(project, 'reload', { method: 'POST' })
})

test('AT-S11-4: a server that a tool call adds to unfold.json does not start, and the rest of the edit applies', async () => {
  const { mcpServers, ...rest } = config(project)
  const { spare: _spare, ...kept } = mcpServers
  const evil = { ...marking, env: { API_KEY: 'literal-secret-1234', NODE_OPTIONS: '--no-warnings' } }
  await writeByTool(project, gateway, {
    ...rest,
    mcpServers: { ...kept, evil },
    groups: { all: { description: 'All', servers: ['evil'] } },
  })
  await waits(project, 'mcpServers.evil')
  const status = await statusOf(project)
  expect(status.upstreams.map(({ name }) => name)).toEqual(['files', 'desk'])
  expect(status.notStarted).toMatchObject([
    { name: 'evil', problems: [{ message: 'waiting for approval: run "unfold review".' }] },
  ])
  expect(gateway.stderr()).toContain('waiting for approval: mcpServers.evil (new). Review: unfold review')
  // Neither a reload nor a restart of the server by a program starts it.
  expect((await project.unfold(['reload', '--yes'])).stderr).toContain('1 edit waiting for approval')
  expect(await api(project, 'upstreams/evil/restart', { method: 'POST' })).toHaveProperty('error')
  expect(await api(project, 'edits', { method: 'POST', body: '{"approve":["x"]}', headers: {} })).toHaveProperty('error')
  expect((await project.unfold(['review', '--approve', 'mcpServers.evil', '--yes'])).code).not.toBe(0)
  const review = JSON.stringify(await api(project, 'edits'))
  expect(JSON.parse(review)).toMatchObject([
    {
      path: 'mcpServers.evil',
      server: 'evil',
      isNew: true,
      changes: expect.arrayContaining([{ path: 'env.API_KEY', after: '***' }]),
    },
  ])
  // A variable that loads code is shown in full.
  expect(review).toContain('--no-warnings')
  expect(review + gateway.stderr()).not.toContain('literal-secret-1234')
  expect(await hasStarted(project)).toBe(false)
})

test('AT-S11-5: a server keeps running as approved when a tool call changes its command, variables or address', async () => {
  const { mcpServers, ...rest } = config(project)
  const pid = (await statusOf(project)).upstreams.find(({ name }) => name === 'desk')?.pid
  expect(pid).toBeGreaterThan(0)
  for (const changed of [
    marking,
    { ...mcpServers.desk, env: { NODE_OPTIONS: `--import ${join(project.folder, 'mark.mjs')}` } },
    { ...mcpServers.desk, env: { KEY: `\${command:${node} mark.mjs}` } },
    { url: 'http://127.0.0.1:9/mcp', headers: { Authorization: 'Bearer literal-secret-5678' } },
  ]) {
    await writeByTool(project, gateway, { ...rest, mcpServers: { ...mcpServers, desk: { ...changed, timeoutMs: 5_000 } } })
    await waits(project, 'mcpServers.desk')
    expect(await serves(gateway, 'desk')).toBe(true)
    expect((await statusOf(project)).upstreams.find(({ name }) => name === 'desk')?.pid).toBe(pid)
    await writeFile(project.file, JSON.stringify(config(project)))
    await waits(project)
  }
  expect(gateway.stderr()).not.toContain('literal-secret-5678')
  expect(await hasStarted(project)).toBe(false)
})

test('AT-S11-6: a tool call cannot switch the consent off, and cannot weaken the gateway', async () => {
  const { mcpServers, ...rest } = config(project)
  const token = { name: 'eve', hash: `sha256:${'e'.repeat(64)}`, role: 'admin' }
  const disarmed = { reload: 'always', trust: 'off', store: { kind: 'memory' }, tokens: [token] }
  await writeByTool(project, gateway, { ...rest, mcpServers: { ...mcpServers, evil: marking }, ...disarmed })
  await until(async () => (await statusOf(project)).edits.length === 5, 'all of it waits')
  expect((await statusOf(project)).edits.toSorted()).toEqual(['mcpServers.evil', 'reload', 'store', 'tokens', 'trust'])
  // The next edit is compared with what was approved, not with the file.
  await writeByTool(project, gateway, { ...rest, mcpServers: { ...mcpServers, evil: marking, more: marking }, reload: 'always' })
  await until(async () => (await statusOf(project)).edits.length === 3, 'the next edit waits')
  expect(await hasStarted(project)).toBe(false)
})

test('AT-S11-7: a rejected edit stays off, and the log is silent about it', async () => {
  const { mcpServers, ...rest } = config(project)
  const edited = { ...rest, mcpServers: { ...mcpServers, evil: { ...marking, args: ['mark.mjs', 'rejected'] } } }
  await writeByTool(project, gateway, edited)
  await waits(project, 'mcpServers.evil')
  await using reviewer = person(['review', '--block', 'mcpServers.evil'], { env: project.env, cwd: project.folder })
  await reviewer.sees('Block 1?')
  reviewer.types('y')
  expect(await reviewer.ended).toBe(0)
  await waits(project)
  expect((await statusOf(project)).notStarted).toMatchObject([
    { name: 'evil', problems: [{ message: expect.stringContaining('was rejected') }] },
  ])
  const before = gateway.stderr().length
  await writeByTool(project, gateway, { ...edited, exposure: 'search' })
  await until(() => gateway.stderr().slice(before).includes('configuration reloaded'), 'the rest of the edit applies')
  expect(gateway.stderr().slice(before)).not.toMatch(/evil/u)
  expect(await hasStarted(project)).toBe(false)
})

test('AT-S11-8: what the user edits with unfold applies at once, but not what somebody else put into the file', async () => {
  const { mcpServers, ...rest } = config(project)
  await writeByTool(project, gateway, {
    ...rest,
    mcpServers: { ...mcpServers, evil: marking, spare: { ...marking, disabled: true } },
  })
  await waits(project, 'mcpServers.evil')
  expect((await project.unfold(['add', 'mine', '--yes', '--', ...servers.desk])).code).toBe(0)
  await until(() => serves(gateway, 'mine'), 'it was started')
  // The diff showed only that the server is enabled, not that it runs something else now.
  expect((await project.unfold(['enable', 'spare'])).code).toBe(0)
  await waits(project, 'mcpServers.spare', 'mcpServers.evil')
  expect(await hasStarted(project)).toBe(false)
  // A server that the user removed cannot return.
  expect((await project.unfold(['remove', 'mine'])).code).toBe(0)
  await until(async () => (await statusOf(project)).upstreams.every(({ name }) => name !== 'mine'), 'it was removed')
  await writeByTool(project, gateway, { ...rest, mcpServers: { ...mcpServers, mine: commandOf(servers.desk) } })
  await waits(project, 'mcpServers.mine')
})

test('AT-S11-9: a restart without a person approves nothing; an approval starts the server, also after the next restart', async () => {
  await using own = await projectHome()
  const { mcpServers, ...rest } = config(own)
  const edited = { ...rest, mcpServers: { ...mcpServers, desk: marking, evil: marking } }
  {
    await using first = await startService(own, config(own))
    await writeByTool(own, first, edited)
    await waits(own, 'mcpServers.desk', 'mcpServers.evil')
    await first.end()
  }
  {
    await using second = await startService(own)
    await waits(own, 'mcpServers.desk', 'mcpServers.evil')
    expect(second.stderr()).toContain('waiting for approval: mcpServers.desk, mcpServers.evil (new)')
    expect(await serves(second, 'desk')).toBe(true)
    expect(await hasStarted(own)).toBe(false)
    await using reloading = person(['reload'], { env: own.env, cwd: own.folder, columns: 200 })
    await reloading.sees('mark.mjs')
    await reloading.sees('Approve 2 edits?')
    reloading.types('y')
    expect(await reloading.ended).toBe(0)
    await starts(own)
    await waits(own)
    await until(() => serves(second, 'evil'), 'it serves')
    await second.end()
  }
  await using third = await startService(own)
  expect(await statusOf(own)).toMatchObject({ edits: [], notStarted: [] })
  expect(await serves(third, 'evil')).toBe(true)
  await expectPrivateRecord(own)
})

test('AT-S11-10: on the terminal of the gateway, the user sees the edit and answers; at the next start too', async () => {
  await using own = await projectHome()
  const { mcpServers, ...rest } = config(own)
  await writeFile(own.file, JSON.stringify({ ...rest, mcpServers: { desk: mcpServers.desk } }))
  const serve = () => person(['serve', 'unfold.json', '--http', '0'], { env: own.env, cwd: own.folder, columns: 200 })
  {
    await using serving = serve()
    await serving.sees('Status: unfold status')
    await writeFile(own.file, JSON.stringify({ ...rest, mcpServers: { desk: mcpServers.desk, more: marking } }))
    await serving.sees('new server more')
    await serving.sees('Approve 1 edit? Type y and press Enter to apply')
    expect(await hasStarted(own)).toBe(false)
    serving.types('y\r')
    await serving.sees('edit of mcpServers.more approved (terminal)')
    await starts(own)
    serving.types('\u0003')
    expect(await serving.ended).toBe(0)
  }
  await writeFile(
    own.file,
    JSON.stringify({ ...rest, mcpServers: { desk: mcpServers.desk, more: { ...marking, env: { A: '1' } } } }),
  )
  await using again = serve()
  await again.sees('Edited since the last start:')
  await again.sees('changed server more')
  await again.sees('Approve these edits?')
  again.types('n')
  await again.sees('Status: unfold status')
  await waits(own, 'mcpServers.more')
  again.types('\u0003')
  expect(await again.ended).toBe(0)
})

test('with "reload": "always" from the start, or with --yes, nothing waits', async () => {
  await using own = await projectHome()
  const { mcpServers, ...rest } = config(own)
  {
    await using first = await startService(own, config(own))
    await writeByTool(own, first, { ...rest, mcpServers, reload: 'always' })
    await waits(own, 'reload')
    await first.end()
  }
  await using second = await startService(own, undefined, ['--yes'])
  await writeByTool(own, second, { ...rest, mcpServers: { ...mcpServers, more: marking }, reload: 'always' })
  await starts(own)
  expect((await statusOf(own)).edits).toEqual([])
})

/** What was approved is readable for the user only. */
async function expectPrivateRecord({ env, file }: Project): Promise<void> {
  const folder = join(env.UNFOLD_HOME ?? '', 'consent')
  const [name = '', ...others] = await readdir(folder)
  expect(others).toEqual([])
  expect((await stat(join(folder, name))).mode & 0o077).toBe(0)
  expect(JSON.parse(await readFile(join(folder, name), 'utf8'))).toMatchObject({ file, rejected: [] })
}
