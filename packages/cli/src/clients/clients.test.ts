import { readFile } from 'node:fs/promises'
import { clientKinds, hostProfiles, pastedKinds } from '@unfold-mcp/core'
import { expect, test } from 'vitest'
import { machine } from '../../test/machine.ts'
import type { System } from '../config/system.ts'
import { verbs } from '../grammar/verbs.ts'
import { type Client, clientNamed, isPasted } from './clients.ts'

const system = { platform: 'linux', home: '/home/me', cwd: '/work', env: {} } as const
const url = 'http://127.0.0.1:7420/mcp?host=x'
const headers = { Authorization: 'Bearer unf_secret' }
const command = { command: 'node', args: ['main.js', 'serve'] }

function named(name: string, around: System = system): Client {
  const client = clientNamed(name, around)
  if (isPasted(client)) throw new Error(`${name} has no file`)
  return client
}

/** The entries that each program expects in its file, as in its documentation or source. */
const programs = {
  claude: { file: '.claude.json', entry: { type: 'http', url, headers } },
  cursor: { file: '.cursor/mcp.json', entry: { url, headers } },
  vscode: {
    file: '.config/Code/User/mcp.json',
    section: 'servers',
    entry: { type: 'http', url, headers },
    local: { type: 'stdio', ...command },
  },
  gemini: { file: '.gemini/settings.json', entry: { httpUrl: url, headers } },
  windsurf: { file: '.codeium/windsurf/mcp_config.json', entry: { serverUrl: url, headers } },
  kiro: { file: '.kiro/settings/mcp.json', entry: { url, headers } },
  copilot: {
    file: '.copilot/mcp-config.json',
    entry: { type: 'http', url, headers, tools: ['*'] },
    local: { type: 'local', ...command, tools: ['*'] },
  },
  opencode: {
    file: '.config/opencode/opencode.json',
    section: 'mcp',
    entry: { type: 'remote', url, headers, enabled: true },
    local: { type: 'local', command: ['node', 'main.js', 'serve'], enabled: true },
  },
  qwen: { file: '.qwen/settings.json', entry: { httpUrl: url, headers } },
  zed: { file: '.config/zed/settings.json', section: 'context_servers', entry: { url, headers } },
  cline: { file: '.cline/data/settings/cline_mcp_settings.json', entry: { type: 'streamableHttp', url, headers } },
  'cline-vscode': {
    file: '.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json',
    entry: { type: 'streamableHttp', url, headers },
  },
  junie: { file: '.junie/mcp/mcp.json', entry: { url, headers } },
  lmstudio: { file: '.lmstudio/mcp.json', entry: { url, headers } },
  kilo: {
    file: '.config/kilo/kilo.jsonc',
    section: 'mcp',
    entry: { type: 'remote', url, headers, enabled: true },
    local: { type: 'local', command: ['node', 'main.js', 'serve'], enabled: true },
  },
  crush: {
    file: '.config/crush/crush.json',
    section: 'mcp',
    entry: { type: 'http', url, headers },
    local: { type: 'stdio', ...command },
  },
  kimi: { file: '.kimi-code/mcp.json', entry: { transport: 'http', url, headers } },
  amp: { file: '.config/amp/settings.json', section: 'amp.mcpServers', entry: { url, headers } },
} as const

test.each(Object.entries(programs))('%s gets a valid entry, and disconnecting restores its file', (name, program) => {
  const { file, entry } = program
  const section = 'section' in program ? program.section : 'mcpServers'
  const client = named(name)
  expect(client.file).toBe(`/home/me/${file}`)
  const before = `{\r\n\t"mine": [1,2], // kept\r\n\t"${section}": {\r\n\t\t"git": { "command": "x" }\r\n\t}\r\n}`
  const after = client.set({ url, headers })(before)
  expect(client.entry(after)).toEqual(entry)
  expect(client.set({ url, headers })(after)).toBe(after)
  expect(client.remove(after)).toBe(before)
  expect(client.remove(before)).toBe(before)
  expect(client.entry(client.set({ url, headers: {} })(''))).not.toHaveProperty('headers')
  expect(client.entry(client.set(command)(''))).toEqual('local' in program ? program.local : command)
})

test('Codex gets its entry in TOML', () => {
  const client = named('codex')
  expect(client.file).toBe('/home/me/.codex/config.toml')
  const before = '# mine\nmodel = "large"\n\n[mcp_servers.git]\ncommand = "x"\n'
  const after = client.set({ url, headers })(before)
  expect(client.entry(after)).toEqual({ url, http_headers: headers })
  expect(client.remove(after)).toBe(before)
})

test('Goose gets its entry in YAML', () => {
  const client = named('goose')
  expect(client.file).toBe('/home/me/.config/goose/config.yaml')
  const before = '# mine\nGOOSE_MODEL: large\nextensions:\n  developer:\n    type: builtin # theirs\n    enabled: true\nx: 1\n'
  const after = client.set({ url, headers })(before)
  const shared = { name: 'unfold', description: 'Unfold gateway', enabled: true, timeout: 300 }
  expect(client.entry(after)).toEqual({ ...shared, type: 'streamable_http', uri: url, headers })
  expect(client.remove(after)).toBe(before)
  expect(client.entry(client.set(command)(before))).toEqual({ ...shared, type: 'stdio', cmd: 'node', args: command.args })
})

test('Continue gets a list item in an existing file', () => {
  const client = named('continue')
  expect(client.file).toBe('/home/me/.continue/config.yaml')
  const before = 'name: mine\nmodels:\n  - name: large\n'
  const after = client.set({ url, headers })(before)
  expect(after).toContain('mcpServers:\n  - name: unfold\n    type: streamable-http\n')
  expect(client.entry(after)).toEqual({ type: 'streamable-http', url, requestOptions: { headers } })
  expect(() => client.set({ url, headers })('')).toThrow('Start Continue once')
})

test('environment variables use the key of the client', () => {
  const entry = (name: string): unknown => {
    const client = named(name)
    return client.entry(client.set({ ...command, env: { UNFOLD_HOME: '/u' } })(''))
  }
  expect(entry('claude')).toMatchObject({ env: { UNFOLD_HOME: '/u' } })
  expect(entry('opencode')).toMatchObject({ environment: { UNFOLD_HOME: '/u' } })
  expect(entry('goose')).toMatchObject({ envs: { UNFOLD_HOME: '/u' } })
  expect(entry('codex')).toMatchObject({ env: { UNFOLD_HOME: '/u' } })
})

test('the option that prevents deferral is set for short lists only', () => {
  const entry = (name: string, loading: 'loaded' | 'deferred' | 'unset'): unknown => {
    const client = named(name)
    return client.entry(client.set({ url, headers: {} }, loading)(''))
  }
  expect(entry('claude', 'loaded')).toEqual({ type: 'http', url, alwaysLoad: true })
  expect(entry('claude', 'deferred')).toEqual({ type: 'http', url })
  expect(entry('copilot', 'loaded')).toMatchObject({ deferTools: 'never' })
  expect(entry('copilot', 'deferred')).toMatchObject({ deferTools: 'auto' })
  expect(entry('copilot', 'unset')).not.toHaveProperty('deferTools')
  expect(entry('qwen', 'loaded')).toEqual({ httpUrl: url, alwaysLoadTools: true })
  expect(entry('cursor', 'loaded')).toEqual({ url })
})

test('Claude Desktop gets a command; an unknown client is rejected with the nearest names', () => {
  const client = named('claude-desktop')
  expect(client.takesAddress).toBe(false)
  expect(JSON.parse(client.set(command)(''))).toEqual({ mcpServers: { unfold: command } })
  expect(() => clientNamed('cursr', system)).toThrow('Nearest: cursor.')
  expect(() => clientNamed('constructor', system)).toThrow('Known clients: claude, ')
  for (const [alias, name] of [
    ['claude-code', 'claude'],
    ['qwen-code', 'qwen'],
    ['gemini-cli', 'gemini'],
  ] as const)
    expect(clientNamed(alias, system).name).toBe(name)
})

test('help and documentation name every client, and every known host has one', async () => {
  const names = new Set([...Object.keys(clientKinds), ...Object.keys(pastedKinds)])
  expect(new Set(verbs.connect?.usage.split('|'))).toEqual(names)
  const page = await readFile(new URL('../../../../docs/guides/connecting-clients.md', import.meta.url), 'utf8')
  expect(new Set([...page.matchAll(/^\| `([a-z-]+)` +\|/gmu)].map(([, name]) => name))).toEqual(names)
  const hosts = [...Object.values(clientKinds), ...Object.values(pastedKinds)].map(({ host }) => host)
  expect(hosts).toEqual(expect.arrayContaining(hostProfiles.map(({ id }) => id)))
})

test('if a client reads several files, the existing one is edited', async () => {
  await using at = await machine()
  const file = await at.write('~/.config/opencode/opencode.jsonc', '{ /* mine */ }')
  expect(named('opencode', at.system).file).toBe(file)
})

test('entries that cannot be edited are printed for pasting', () => {
  const jetbrains = clientNamed('jetbrains', system)
  if (!isPasted(jetbrains)) throw new Error('It is pasted.')
  expect(JSON.parse(jetbrains.text(url, '<token>'))).toEqual({
    mcpServers: { unfold: { url, headers: { Authorization: 'Bearer <token>' } } },
  })
})
