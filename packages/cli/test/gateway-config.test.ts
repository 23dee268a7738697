import { mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { home, servers } from './command.ts'
import { startGatewayProcess } from './gateway-process.ts'

// Each test starts several processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 300_000 })

const own = `{
  // What I use
  "mcpServers": {
    "git": { "command": "git-mcp" }, // the best
  },
  "budgetTokens": 500
}
`

test('add and remove edit the right file, keep comments, and never write an invalid configuration', async () => {
  await using at = await home()
  const file = join(at.folder, 'unfold.json')
  await writeFile(file, own)
  const added = await at.unfold(['add', 'files', 'npx', '-y', 'files-mcp', '--depth', '2', '--env', 'API_TOKEN', '--lazy'])
  expect(added.code).toBe(0)
  expect(added.stderr).toContain('files not started: API_TOKEN is not set')
  const text = await readFile(file, 'utf8')
  expect(text).toContain('"git": { "command": "git-mcp" }, // the best\n    "files": {')
  expect(text).toContain(`"API_TOKEN": "\${API_TOKEN}"`)
  expect(text).toContain('"--depth"')
  expect(await readFile(`${file}.bak.1`, 'utf8')).toBe(own)

  expect((await at.unfold(['add', 'git', '--', 'other'])).code).toBe(2)
  const group = await at.unfold(['add', 'more', 'https://example.com/mcp', '--group', 'nowhere'])
  expect(group).toMatchObject({ code: 2, stderr: expect.stringContaining('mcpServers.more.group') })
  expect(await readFile(file, 'utf8')).toBe(text)
  const dry = await at.unfold(['add', 'more', 'https://example.com/mcp', '--dry-run', '--json'])
  expect(JSON.parse(dry.stdout)).toMatchObject({ name: 'more', changed: false })
  expect(await readFile(file, 'utf8')).toBe(text)

  expect(await at.unfold(['remove', 'file'])).toMatchObject({ code: 2, stderr: expect.stringContaining('Nearest: files') })
  expect((await at.unfold(['remove', 'files'])).code).toBe(0)
  expect(await readFile(file, 'utf8')).toBe(own)
})

test('a secret on the command line is not printed, and a variable is suggested', async () => {
  await using at = await home()
  const secret = 'sk-0123456789abcdef0123456789abcdef'
  const { code, stdout, stderr } = await at.unfold([
    'add',
    'hub',
    'https://example.com/mcp',
    '--header',
    `Authorization: Bearer ${secret}`,
  ])
  expect(code).toBe(0)
  expect(stdout + stderr).not.toContain(secret)
  expect(stderr).toContain(`--header 'Authorization: Bearer \${HUB_TOKEN}'`)
  const file = join(at.folder, 'unfold', 'unfold.json')
  const config = JSON.parse(await readFile(file, 'utf8'))
  expect(config.$schema).toMatch(/unfold\.schema\.json$/u)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  const removed = await at.unfold(['remove', 'hub'])
  expect(removed.stdout + removed.stderr).not.toContain(secret)
})

test('no diff shows a secret in the arguments of a server', async () => {
  await using at = await home()
  await mkdir(join(at.folder, '.cursor'))
  const args = ['-y', 'hub', '--api-key', 'hunter-1', '--token=hunter-2', '--header', 'Authorization: Bearer hunter-3']
  const address = 'https://ada:hunter-4@example.com/mcp?key=hunter-5'
  // On one line, so that the diff of connect shows its own entry next to the others.
  const cursor = JSON.stringify({ mcpServers: { hub: { command: 'npx', args }, web: { url: address } } })
  await writeFile(join(at.folder, '.cursor', 'mcp.json'), cursor)
  for (const command of [
    ['import', '--yes'],
    ['connect', 'cursor', '--yes'],
    ['disconnect', 'cursor', '--yes'],
    ['add', 'more', '--', 'npx', ...args],
    ['add', 'other', address],
    ['remove', 'more'],
    ['remove', 'hub'],
    ['remove', 'web'],
  ]) {
    const { code, stdout, stderr } = await at.unfold(command)
    expect(code).toBe(0)
    expect(stderr).toMatch(/^[-+] +\d+ /mu)
    expect(stdout + stderr).not.toContain('hunter')
  }
})

test('a command with a relative path runs in the current folder, and a symbolic link stays one', async () => {
  await using at = await home()
  await mkdir(join(at.folder, 'unfold'), { recursive: true })
  await writeFile(join(at.folder, 'real.json'), '{}')
  await symlink(join(at.folder, 'real.json'), join(at.folder, 'unfold', 'unfold.json'))
  await writeFile(join(at.folder, 'server.mjs'), '')
  expect((await at.unfold(['add', 'mine', '--', 'node', 'server.mjs'])).code).toBe(0)
  expect(JSON.parse(await readFile(join(at.folder, 'real.json'), 'utf8'))).toEqual({
    mcpServers: { mine: { command: 'node', args: ['server.mjs'], cwd: at.folder } },
  })
})

test('a token is printed once, and the file contains only its hash', async () => {
  await using at = await home()
  const file = join(at.folder, 'unfold.json')
  await writeFile(file, own)
  const made = await at.unfold(['token', 'add', 'laptop', '--json'])
  const { token } = JSON.parse(made.stdout)
  expect(token).toMatch(/^unf_/u)
  expect(made.stderr).not.toContain(token)
  const text = await readFile(file, 'utf8')
  expect(text).not.toContain(token)
  expect(text).toContain('// the best')
  expect((await at.unfold(['token', 'add', 'laptop'])).code).toBe(2)
  expect((await at.unfold(['token', 'add', 'phone', '--profile', 'nowhere'])).code).toBe(2)
  expect(await readFile(file, 'utf8')).toBe(text)
})

test('tokens are listed and revoked, and subcommands are reserved names', async () => {
  await using at = await home()
  const file = join(at.folder, 'unfold.json')
  await writeFile(file, `{ "profiles": { "reading": {} } }`)
  const empty = await at.unfold(['token', 'list', '--json'])
  expect(JSON.parse(empty.stdout)).toEqual({ file, tokens: [] })
  expect(await readFile(file, 'utf8')).toBe(`{ "profiles": { "reading": {} } }`)

  await at.unfold(['token', 'add', 'laptop', '--quiet'])
  // The syntax of earlier versions, which scripts may still use.
  await at.unfold(['token', 'create', 'phone', '--profile', 'reading', '--quiet'])
  const both = await readFile(file, 'utf8')
  const listed = await at.unfold(['token', 'list'])
  expect(listed.stdout).toMatch(/^laptop +everything\nphone +profile reading\n$/u)
  expect(JSON.parse((await at.unfold(['token', 'list', '--json'])).stdout)).toEqual({
    file,
    tokens: [{ name: 'laptop' }, { name: 'phone', profile: 'reading' }],
  })

  for (const [args, hint] of [
    [['token', 'tablet', '--profile', 'reading'], 'unfold token add tablet --profile reading'],
    [['token', 'lsit'], 'Nearest: list'],
    [['token', 'remove', 'phone'], 'unfold token revoke <name>'],
    [['token', 'add', 'list'], 'Choose another name'],
    [['token', 'add', 'revoke'], 'Choose another name'],
    [['token'], 'unfold token list'],
    [['token', 'list', 'phone'], 'takes no name'],
    [['token', 'revoke', 'fone'], 'Nearest: phone'],
  ] as const)
    expect(await at.unfold(args)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(hint) })
  expect(await readFile(file, 'utf8')).toBe(both)

  const dry = await at.unfold(['token', 'revoke', 'laptop', '--dry-run', '--json'])
  expect(JSON.parse(dry.stdout)).toMatchObject({ name: 'laptop', changed: false, gateways: [] })
  const revoked = await at.unfold(['token', 'revoke', 'laptop', '--json'])
  expect(JSON.parse(revoked.stdout)).toMatchObject({ name: 'laptop', changed: true, gateways: [] })
  // Without the last token everyone would have access, so it is not removed by accident.
  const refused = await at.unfold(['token', 'revoke', 'phone'])
  expect(refused.code).toBe(6)
  expect(await at.unfold(['token', 'revoke', 'phone', '--yes'])).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('any program on this machine'),
  })
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ profiles: { reading: {} } })
})

test('when the command ends, running gateways accept the new token or reject the revoked one', async () => {
  await using at = await home()
  await using gateway = await startGatewayProcess(at, { mcpServers: {} })
  const ask = async (token: string, session?: string): Promise<Response> => {
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      ...(session === undefined
        ? {
            method: 'initialize',
            params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a', version: '1' } },
          }
        : { method: 'tools/list' }),
    })
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${token}`,
      ...(session !== undefined && { 'mcp-session-id': session }),
    }
    return fetch(gateway.url, { method: 'POST', headers, body })
  }
  const made = async (name: string): Promise<string> => {
    const { stdout } = await at.unfold(['token', 'add', name, '--json'])
    expect(JSON.parse(stdout).gateways).toEqual([gateway.pid])
    return JSON.parse(stdout).token
  }
  const [laptop, phone] = [await made('laptop'), await made('phone')]
  const opened = await ask(laptop)
  expect(opened.status).toBe(200)
  const session = opened.headers.get('mcp-session-id') ?? ''
  const { stdout } = await at.unfold(['token', 'revoke', 'laptop', '--json'])
  expect(JSON.parse(stdout).gateways).toEqual([gateway.pid])
  expect((await ask(laptop)).status).toBe(401)
  expect((await ask(laptop, session)).status).toBe(401)
  expect((await ask(phone, session)).status).not.toBe(200)
  expect((await ask(phone)).status).toBe(200)
})

test('AT-R10-2: a token with a role is created by a command, survives a restart, and is not for clients', async () => {
  await using at = await home()
  const file = join(at.folder, 'unfold.json')
  const statuses = async (url: string, token: string): Promise<readonly number[]> => {
    const routes = [
      ['GET', '/metrics'],
      ['GET', '/api/status'],
      ['POST', '/api/reload'],
    ] as const
    const headers = { authorization: `Bearer ${token}` }
    return Promise.all(routes.map(async ([method, path]) => (await fetch(new URL(path, url), { method, headers })).status))
  }
  const added = async (name: string, ...access: readonly string[]): Promise<string> =>
    JSON.parse((await at.unfold(['token', 'add', name, ...access, '--json'])).stdout).token
  let [prometheus, operator, laptop] = ['', '', '']
  {
    await using gateway = await startGatewayProcess(at, { mcpServers: {} })
    const made = await at.unfold(['token', 'add', 'prometheus', '--role', 'metrics', '--json'])
    prometheus = JSON.parse(made.stdout).token
    expect(JSON.parse(made.stdout)).toMatchObject({ name: 'prometheus', role: 'metrics', gateways: [gateway.pid] })
    expect(made.stderr).not.toContain('requires a token from every client')
    operator = await added('ann', '--role', 'operator')
    laptop = await added('laptop')
    expect(await statuses(gateway.url, prometheus)).toEqual([200, 403, 403])
  }
  expect(await readFile(file, 'utf8')).not.toContain(prometheus)
  await using gateway = await startGatewayProcess(at, undefined)
  expect(await statuses(gateway.url, prometheus)).toEqual([200, 403, 403])
  expect(await statuses(gateway.url, operator)).toEqual([200, 200, 200])
  expect(await statuses(gateway.url, laptop)).toEqual([403, 403, 403])
  expect((await at.unfold(['token', 'list'])).stdout).toMatch(
    /^prometheus +role metrics\nann +role operator\nlaptop +everything\n$/u,
  )
  for (const [args, hint] of [
    [['token', 'add', 'x', '--role', 'metric'], 'Nearest: metrics'],
    [['token', 'add', 'x', '--role', 'root'], 'Roles: metrics, viewer, reviewer, operator, admin'],
    [['token', 'add', 'x', '--role', 'viewer', '--profile', 'p'], 'Use either --profile or --role'],
    [['token', 'list', '--role', 'viewer'], '--role requires'],
  ] as const)
    expect(await at.unfold(args)).toMatchObject({ code: 2, stderr: expect.stringContaining(hint) })
  // Without the last client token, every program on this machine has access, regardless of roles.
  expect((await at.unfold(['token', 'revoke', 'laptop'])).code).toBe(6)
  expect((await at.unfold(['token', 'revoke', 'ann'])).code).toBe(0)
  expect(await statuses(gateway.url, operator)).toEqual([401, 401, 401])
})

test('a server with an unset variable is imported and not started until it is set', async () => {
  await using at = await home()
  await mkdir(join(at.folder, '.cursor'))
  const [command, ...args] = servers.desk
  const desk = { command, args, env: { KEY: `\${HUB_KEY}` } }
  await writeFile(join(at.folder, '.cursor', 'mcp.json'), JSON.stringify({ mcpServers: { desk } }))
  const done = await at.unfold(['import', '--yes', '--json', '--config', 'unfold.json'])
  expect(JSON.parse(done.stdout)).toMatchObject({ changed: true, servers: [{ name: 'desk', unset: ['HUB_KEY'] }] })
  expect(done.stderr).toContain('(not set: HUB_KEY)')
  expect(done.stderr).toContain('desk not started: HUB_KEY is not set. Set it, or give it a default')
  expect(done.stderr).not.toContain('skipped')
  expect(JSON.parse(await readFile(join(at.folder, 'unfold.json'), 'utf8')).mcpServers).toEqual({ desk })
  {
    await using _ = await startGatewayProcess(at, undefined)
    expect((await at.unfold(['status'])).stdout).toMatch(/desk +not started +HUB_KEY is not set/u)
  }
  await using gateway = await startGatewayProcess(
    { ...at, unfold: (line, options) => at.unfold(line, { ...options, env: { HUB_KEY: 'k' } }) },
    undefined,
  )
  expect(gateway.stderr()).toMatch(/desk +ready, 7 tools/u)
})

test('import copies the servers of other clients as written, and never the gateway itself', async () => {
  await using at = await home()
  const secret = 'ghp_0123456789abcdef0123456789abcdef'
  await mkdir(join(at.folder, '.cursor'))
  await mkdir(join(at.folder, '.codex'))
  await mkdir(join(at.folder, 'project'))
  const cursor = JSON.stringify({
    mcpServers: {
      git: { command: 'git-mcp', env: { KEY: `\${HUB_KEY}`, OTHER: secret }, cwd: `\${userHome}/work` },
      off: { command: 'off-mcp', disabled: true },
      unfold: { url: 'http://127.0.0.1:9999/mcp' },
      again: { url: 'http://localhost:7420/mcp/work' },
      starts: { command: 'npx', args: ['unfold', 'serve', '--stdio'] },
      asks: { command: 'x', env: { KEY: `\${input:key}` } },
    },
  })
  await writeFile(join(at.folder, '.cursor', 'mcp.json'), cursor)
  const codex = '[mcp_servers.web]\nurl = "https://example.com/mcp"\nbearer_token_env_var = "HUB_KEY"\n'
  await writeFile(join(at.folder, '.codex', 'config.toml'), codex)
  await writeFile(join(at.folder, 'project', '.mcp.json'), JSON.stringify({ mcpServers: { theirs: { command: './run' } } }))
  const options = { cwd: join(at.folder, 'project'), env: { HUB_KEY: 'hub-secret-value' } }
  const file = join(at.folder, 'unfold', 'unfold.json')

  const asked = await at.unfold(['import'], options)
  expect(asked.code).toBe(6)
  expect(asked.stderr).toMatch(/\+ git +cursor +git-mcp/u)
  expect(asked.stderr).toMatch(/unfold +cursor +\(skipped: the gateway itself\)/u)
  expect(asked.stderr).toMatch(/theirs .*project server/u)
  expect(asked.stderr).toMatch(/skipped: .*mcp\.json:1:\d+: asks\.env\.KEY/u)
  expect(asked.stderr).not.toContain(secret)
  await expect(readFile(file)).rejects.toThrow('ENOENT')

  const done = await at.unfold(['import', '--yes'], options)
  expect(done.code).toBe(0)
  expect(JSON.parse(await readFile(file, 'utf8')).mcpServers).toEqual({
    git: { command: 'git-mcp', env: { KEY: `\${HUB_KEY}`, OTHER: secret }, cwd: join(at.folder, 'work') },
    off: { command: 'off-mcp', disabled: true },
    web: { url: 'https://example.com/mcp', headers: { Authorization: `Bearer \${env:HUB_KEY}` } },
  })
  expect(await readFile(join(at.folder, '.cursor', 'mcp.json'), 'utf8')).toBe(cursor)

  const again = await at.unfold(['import', '--yes', '--json'], options)
  expect(JSON.parse(again.stdout)).toMatchObject({ changed: false })
  const named = await at.unfold(['import', 'theirs', '--from', '.mcp.json', '--yes'], options)
  expect(named.code).toBe(0)
  expect(JSON.parse(await readFile(file, 'utf8')).mcpServers.theirs).toEqual({
    command: './run',
    cwd: join(at.folder, 'project'),
  })
  expect((await at.unfold(['import', 'unknown', '--yes'], options)).code).toBe(2)
})
