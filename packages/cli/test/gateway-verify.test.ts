import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createToken } from '@unfold-mcp/gateway/config'
import { expect, test, vi } from 'vitest'
import { home, servers } from './command.ts'
import { startGatewayProcess } from './gateway-process.ts'
import { keys, person } from './terminal.ts'

// Each test starts several processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 300_000 })

const [command = '', ...args] = servers.desk
const desk = { command, args }

test('after connecting, the entry is verified over HTTP and as a command', async () => {
  await using at = await home()
  await using gateway = await startGatewayProcess(at, { mcpServers: { desk } })
  for (const client of ['cursor', 'opencode', 'goose', 'codex', 'cline', 'claude', 'qwen']) {
    const { code, stdout } = await at.unfold(['connect', client, '--yes'])
    expect({ client, code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Verified: \d+ tools, \d+ tokens\.$/mu),
    })
  }
  const data = JSON.parse((await at.unfold(['connect', 'cursor', '--json'])).stdout)
  expect(data).toMatchObject({ changed: false, verification: { status: 'verified', tools: expect.any(Number) } })
  expect(data.url).toBe(`${gateway.url}?host=cursor`)
  const started = await at.unfold(['connect', 'claude-desktop', '--yes', '--json'])
  expect(JSON.parse(started.stdout).verification).toEqual(data.verification)
})

test('without a running gateway the entry is written, and the next step is printed', async () => {
  await using at = await home()
  await writeFile(join(at.folder, 'unfold.json'), '{ "listen": { "port": 7997 } }')
  const { code, stdout } = await at.unfold(['connect', 'cursor', '--yes'])
  expect(stdout).toBe(
    'Connected Cursor to the gateway. Restart it.\nNot verified: the gateway is not running. Start it with: unfold serve\n',
  )
  expect(code).toBe(0)
  const skipped = await at.unfold(['connect', 'cursor', '--no-verify', '--json'])
  expect(JSON.parse(skipped.stdout).verification).toEqual({ status: 'skipped' })
})

test('a required token is prompted for, never printed, and kept when connecting again', async () => {
  await using at = await home()
  const { token, record } = createToken('mine')
  await using gateway = await startGatewayProcess(at, { mcpServers: { desk }, tokens: [record] })
  const file = join(at.folder, '.cursor', 'mcp.json')
  expect(await at.unfold(['connect', 'cursor', '--yes'])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('The gateway requires a token. Create one with "unfold token add <name>"'),
  })
  const wrong = await at.unfold(['connect', 'cursor', '--yes', '--token', 'unf_wrong'])
  expect(wrong).toMatchObject({ code: 3, stdout: expect.stringContaining('Verification failed: The gateway refused the token.') })
  await writeFile(file, '{}')
  await using asked = person(['connect', 'cursor'], { env: at.env, cwd: at.folder })
  await asked.sees('Token:')
  asked.types(token)
  asked.types(keys.enter)
  await asked.sees('Connect Cursor to the gateway?')
  asked.types('y')
  asked.types(keys.enter)
  expect(await asked.ended).toBe(0)
  expect(asked.seen).toContain('Verified:')
  expect(asked.seen).not.toContain(token)
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
    mcpServers: { unfold: { url: `${gateway.url}?host=cursor`, headers: { Authorization: `Bearer ${token}` } } },
  })
  const again = await at.unfold(['connect', 'cursor', '--exposure', 'search', '--yes'])
  expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('Verified:') })
  expect(`${again.stdout}${again.stderr}`).not.toContain(token)
  expect(await readFile(file, 'utf8')).toContain(token)
})

test('a remote gateway is probed for whether it requires a token; entries to paste do not contain it', async () => {
  await using at = await home()
  const { token, record } = createToken('mine')
  await using gateway = await startGatewayProcess(at, { mcpServers: { desk }, tokens: [record] })
  expect(await at.unfold(['connect', 'kiro', '--yes', '--url', gateway.url])).toMatchObject({ code: 3 })
  const pasted = await at.unfold(['connect', 'jetbrains', '--url', gateway.url, '--token', token])
  expect(pasted).toMatchObject({ code: 0, stderr: expect.stringContaining('Verified:') })
  expect(JSON.parse(pasted.stdout).mcpServers.unfold).toEqual({
    url: `${gateway.url}?host=jetbrains`,
    headers: { Authorization: 'Bearer <token>' },
  })
  expect(`${pasted.stdout}${pasted.stderr}`).not.toContain(token)
})

test('a URL without a gateway, and a command that exits, fail with the reason', async () => {
  await using at = await home()
  await using gateway = await startGatewayProcess(at, { mcpServers: { desk } })
  const nowhere = await at.unfold(['connect', 'kiro', '--yes', '--url', new URL('/nowhere', gateway.url).href, '--json'])
  expect(nowhere.code).not.toBe(0)
  expect(JSON.parse(nowhere.stdout).verification).toMatchObject({ status: 'failed', message: expect.any(String) })
  await writeFile(join(at.folder, 'broken.json'), '{ "mcpServers": {}, "nonsense": 1 }')
  const broken = await at.unfold(['connect', 'claude-desktop', '--yes', '--config', 'broken.json'])
  expect(broken.code).toBe(2)
})
