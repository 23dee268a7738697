import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.ts'
import { home, servers } from './command.ts'
import { startGatewayProcess } from './gateway-process.ts'
import { person } from './terminal.ts'

const [node = '', deskFile = ''] = servers.desk
const desk = { command: node, args: [deskFile] }

verifies('C19', async () => {
  await using at = await home()
  expect(await at.unfold(['search', 'echo', 'a', 'text'])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/No server is named "echo", and no gateway is running\.[\s\S]*unfold search --all/u),
  })
  await using gateway = await startGatewayProcess(at, { mcpServers: { desk }, budgetTokens: 1 })
  for (const words of [['echo', 'a', 'text'], ['echo a text']])
    expect(await at.unfold(['search', ...words])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('desk__echo('),
      stderr: expect.stringContaining(`Searching the gateway at ${gateway.url}`),
    })
})

verifies('C20', async () => {
  await using at = await home()
  await using gateway = await startGatewayProcess(at, { mcpServers: { desk } })
  const unknown = { code: 2, stderr: expect.stringContaining('Unknown server "dsk". Nearest: desk.') }
  for (const args of [['status'], ['restart'], ['logs'], ['logs', '--stderr'], ['review']])
    expect(await at.unfold([...args, 'dsk'])).toMatchObject(unknown)
  expect(await at.unfold(['restart', 'other'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Unknown server "other". Servers: desk.'),
  })
  const { port } = new URL(gateway.url)
  expect(await at.unfold(['serve', join(at.folder, 'unfold.json'), '--port', port])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`Port ${port} is in use by the gateway with pid ${gateway.pid}`),
  })
  const elsewhere = await at.unfold(['status', '--config', 'other.json'])
  expect(elsewhere).toMatchObject({ code: 4, stderr: expect.stringContaining(`Running: pid ${gateway.pid}`) })
  expect(elsewhere.stderr).toContain('Start it with: unfold serve other.json')
})

test('a command without -- gets the command line that works', async () => {
  await using at = await home()
  expect(await at.unfold(['list', 'node', deskFile])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`put the command after "--": unfold list -- node ${deskFile}`),
  })
  expect(await at.unfold(['list', '--', `node ${deskFile}`])).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('put each argument in "args"'),
  })
  expect(await at.unfold(['call', '--', node, deskFile])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`List the tools with: unfold list -- ${node} ${deskFile}`),
  })
})

test('a dry run says so, and shows the address that it would write', async () => {
  await using at = await home()
  await writeFile(join(at.folder, 'unfold.json'), '{ "mcpServers": {} }')
  const dry = await at.unfold(['connect', 'claude', '--dry-run'])
  expect(dry).toMatchObject({ code: 0, stdout: 'Dry run: nothing was written.\n' })
  expect(dry.stderr).toContain('?host=claude-code')
})

test('an invalid file of another client is reported only where it matters', async () => {
  await using at = await home()
  await writeFile(join(at.folder, 'unfold.json'), JSON.stringify({ mcpServers: { desk } }))
  await writeFile(join(at.folder, '.claude.json'), '{')
  const invalid = expect.stringContaining('.claude.json:1:2: Invalid JSON')
  expect((await at.unfold(['list'])).stderr).toEqual(invalid)
  expect((await at.unfold(['call', 'desk', 'echo', '--text', 'x', '--yes'])).stderr).not.toEqual(invalid)
  expect(await at.unfold(['connect', 'claude', '--yes'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Invalid JSON at 1:2: close brace expected.'),
  })
})

test('signing in to a gateway with tokens says that it takes a token instead', async () => {
  await using at = await home()
  const hash = `sha256:${createHash('sha256').update('unf_token').digest('hex')}`
  await using gateway = await startGatewayProcess(at, { mcpServers: {}, tokens: [{ name: 'team', hash }] })
  expect(await at.unfold(['login', gateway.url, '--no-browser'])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('It requires a token, but names no authorization server to sign in at.'),
  })
})

test('a gateway without servers says how to add one', async () => {
  await using at = await home()
  await using gateway = await startGatewayProcess(at, { mcpServers: {} })
  expect(gateway.stderr()).toContain('No servers are configured. Add one: unfold add <name> -- <command>')
})

test('a server that someone starts in a terminal says that it waits for a client', async () => {
  await using at = await home()
  await using user = person([], { cwd: at.folder, env: at.env, shell: `exec ${node} ${deskFile}` })
  await user.sees('is waiting for an MCP client on standard input')
})
