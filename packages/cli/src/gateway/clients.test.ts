import { expect, test } from 'vitest'
import { clientNamed } from './clients.ts'

const surroundings = { platform: 'linux', home: '/home/me', cwd: '/work', env: {} } as const
const url = 'http://127.0.0.1:7420/mcp'
const headers = { Authorization: 'Bearer unf_secret' }

/** What each program is to find in its file, as its documentation has it. */
const programs = {
  claude: { file: '.claude.json', section: 'mcpServers', entry: { type: 'http', url, headers } },
  cursor: { file: '.cursor/mcp.json', section: 'mcpServers', entry: { url, headers } },
  vscode: { file: '.config/Code/User/mcp.json', section: 'servers', entry: { type: 'http', url, headers } },
  gemini: { file: '.gemini/settings.json', section: 'mcpServers', entry: { httpUrl: url, headers } },
  windsurf: { file: '.codeium/windsurf/mcp_config.json', section: 'mcpServers', entry: { serverUrl: url, headers } },
  kiro: { file: '.kiro/settings/mcp.json', section: 'mcpServers', entry: { url, headers } },
  copilot: { file: '.copilot/mcp-config.json', section: 'mcpServers', entry: { type: 'http', url, headers, tools: ['*'] } },
}

test.each(Object.entries(programs))(
  '%s is told in its own words, and forgets without a trace',
  (name, { file, section, entry }) => {
    const client = clientNamed(name, surroundings)
    expect(client.file).toBe(`/home/me/${file}`)
    const before = `{\r\n\t"mine": [1,2], // kept\r\n\t"${section}": {\r\n\t\t"git": { "command": "x" }\r\n\t}\r\n}`
    const after = client.set({ url, headers })(before)
    expect(client.entry(after)).toEqual(entry)
    expect(client.set({ url, headers })(after)).toBe(after)
    expect(client.remove(after)).toBe(before)
    expect(client.remove(before)).toBe(before)
    expect(client.entry(client.set({ url, headers: {} })(''))).not.toHaveProperty('headers')
  },
)

test('Codex is told in TOML', () => {
  const client = clientNamed('codex', surroundings)
  expect(client.file).toBe('/home/me/.codex/config.toml')
  const before = '# mine\nmodel = "large"\n\n[mcp_servers.git]\ncommand = "x"\n'
  const after = client.set({ url, headers })(before)
  expect(client.entry(after)).toEqual({ url, http_headers: headers })
  expect(client.remove(after)).toBe(before)
})

test('Claude Desktop takes no address, and a command as others do; a client that nobody knows is refused with the nearest', () => {
  const client = clientNamed('claude-desktop', surroundings)
  expect(client.takesAddress).toBe(false)
  const way = { command: 'node', args: ['main.js', 'serve'] }
  expect(JSON.parse(client.set(way)(''))).toEqual({ mcpServers: { unfold: way } })
  expect(() => clientNamed('cursr', surroundings)).toThrow('Nearest: cursor.')
  expect(() => clientNamed('constructor', surroundings)).toThrow('Known are claude, ')
})
