import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Home, home, servers } from './command.ts'
import { type GatewayProcess, startGatewayProcess } from './gateway-process.ts'

// Each test starts a process, on a machine that may be busy.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

let at: Home
let gateway: GatewayProcess

beforeAll(async () => {
  at = await home()
  const [command = '', ...args] = servers.files(at.folder)
  const policy = { rules: [{ effect: 'deny', tool: 'write_file' }] }
  gateway = await startGatewayProcess(at, {
    mcpServers: { files: { command, args, deny: ['create_*', 'delete_*'] } },
    policy,
    exposure: 'everything',
  })
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await at[Symbol.asyncDispose]()
})

const json = async (
  ...args: readonly string[]
): Promise<{ readonly code: unknown; readonly data: { readonly [key: string]: unknown } }> => {
  const { code, stdout } = await at.unfold([...args, '--json'])
  return { code, data: JSON.parse(stdout) as { readonly [key: string]: unknown } }
}

test('unfold ui prints a link that signs in once, and unfold serve prints one too', async () => {
  const { data } = await json('ui', '--no-open')
  const open = async (): Promise<string | null> => (await fetch(String(data.url), { redirect: 'manual' })).headers.get('location')
  expect([await open(), await open()]).toEqual(['/ui/', '/ui/#/expired'])
  expect(gateway.stderr()).toMatch(/Dashboard: http:\/\/127\.0\.0\.1:\d+\/ui\/\?code=/u)
})

test('unfold why names the cause, and fails if the tool cannot be used', async () => {
  expect(await json('why', 'files/read_text_file')).toMatchObject({ code: 0, data: { isListed: true, cause: 'listed' } })
  expect(await json('why', 'files/write_file')).toMatchObject({ code: 1, data: { isUsable: false, cause: 'policy' } })
})

test('unfold why explains a tool for a host, and its next step works as it is printed', async () => {
  const reason = async (): Promise<unknown> => (await json('why', 'files__create_directory', '--client', 'claude-code')).data
  expect(await reason()).toMatchObject({
    isUsable: false,
    cause: 'name',
    reason: '"deny" of its server excludes it: create_*',
    next: 'unfold set files \'deny=["delete_*"]\'',
  })
  expect((await at.unfold(['set', 'files', 'deny=["delete_*"]', '--yes'])).code).toBe(0)
  await vi.waitFor(async () => expect(await reason()).toMatchObject({ isUsable: true }), { timeout: 60_000, interval: 500 })
  const unknown = await at.unfold(['why', 'files__create_directory', '--client', 'claude-cod'])
  expect([unknown.code === 0, unknown.stderr]).toEqual([false, expect.stringContaining('No client token "claude-cod"')])
})

test('unfold usage lists the tools that nobody called', async () => {
  const { data } = await json('usage')
  expect(data.unused).toContainEqual(expect.objectContaining({ upstream: 'files', tool: 'read_text_file' }))
})
