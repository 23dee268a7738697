import { expect, test } from 'vitest'
import { machine } from '../../../test/machine.ts'
import { findServers } from '../servers.ts'

const env = { KEY: 'k-value' }

/** The same two servers in the format of each program. */
const files: { readonly [file: string]: unknown } = {
  '~/.config/opencode/opencode.json': {
    mcp: {
      run: { type: 'local', command: ['run', '--all'], environment: { KEY: '{env:KEY}' } },
      web: { type: 'remote', url: 'https://x.test/mcp', headers: { A: 'Bearer {env:KEY}' } },
      off: { enabled: false },
    },
  },
  '~/.config/zed/settings.json': `{
    // mine
    "theme": "dark",
    "context_servers": {
      "run": { "source": "custom", "command": { "path": "run", "args": ["--all"], "env": { "KEY": "k-value" } } },
      "web": { "url": "https://x.test/mcp", "headers": { "A": "Bearer k-value" } },
      "extension": { "source": "extension", "settings": {} }
    }
  }`,
  '~/.cline/data/settings/cline_mcp_settings.json': {
    mcpServers: {
      run: { transport: { type: 'stdio', command: 'run', args: ['--all'], env: { KEY: 'k-value' } } },
      web: { type: 'streamableHttp', url: 'https://x.test/mcp', headers: { A: 'Bearer k-value' } },
    },
  },
  '~/.config/goose/config.yaml': `GOOSE_MODEL: large
extensions:
  developer:
    type: builtin
    enabled: true
  run:
    type: stdio
    cmd: run
    args:
      - --all
    env_keys: [KEY]
  web:
    type: streamable_http
    uri: https://x.test/mcp
    headers: { A: Bearer k-value }
`,
  '~/.config/crush/crush.json': {
    mcp: {
      run: { type: 'stdio', command: 'run', args: ['--all'], env: { KEY: '$KEY' } },
      web: { type: 'http', url: 'https://x.test/mcp', headers: { A: 'Bearer $KEY' } },
    },
  },
  '~/.kimi-code/mcp.json': {
    mcpServers: {
      run: { command: 'run', args: ['--all'], env: { KEY: `\${KEY}` } },
      web: { transport: 'http', url: 'https://x.test/mcp', headers: { A: `Bearer \${KEY}` } },
    },
  },
  '~/.config/amp/settings.json': {
    'amp.mcpServers': {
      run: { command: 'run', args: ['--all'], env: { KEY: 'k-value' } },
      web: { url: 'https://x.test/mcp', headers: { A: 'Bearer k-value' } },
    },
  },
  '~/.continue/config.yaml': `name: mine
mcpServers:
  - name: run
    command: run
    args: [--all]
    env: { KEY: k-value }
  - name: web
    type: streamable-http
    url: https://x.test/mcp
    requestOptions:
      headers: { A: Bearer k-value }
`,
  '~/.qwen/settings.json': {
    mcpServers: {
      run: { command: 'run', args: ['--all'], env: { KEY: '$KEY' } },
      web: { httpUrl: 'https://x.test/mcp', headers: { A: 'Bearer $KEY' } },
    },
  },
}

test.each(Object.entries(files))('the servers in %s are read as its program interprets them', async (file, content) => {
  await using at = await machine(env)
  const path = await at.write(file, content)
  for (const options of [{}, { file: path }]) {
    // The format of a file that is passed explicitly is detected by its sections; variables are left to its program.
    if ('file' in options && /crush|qwen|cline|kimi|continue/u.test(file)) continue
    const { servers, problems } = await findServers(at.system, options)
    expect(problems).toEqual([])
    expect(servers.map(({ name }) => name)).toEqual(['run', 'web'])
    const [run, web] = servers.map(({ target }) => target)
    expect(run).toEqual({ command: 'run', args: ['--all'], env: { KEY: 'k-value' } })
    expect(web).toMatchObject({ url: 'https://x.test/mcp', headers: { A: 'Bearer k-value' } })
  }
})

test('YAML problems are reported with their location', async () => {
  await using at = await machine()
  await at.write('~/.config/goose/config.yaml', 'a: 1\nextensions: [\n')
  const { problems } = await findServers(at.system)
  expect(problems).toMatchObject([{ message: expect.stringContaining('Invalid YAML') }])
  await at.write('~/.config/goose/config.yaml', 'extensions:\n  web:\n    type: streamable_http\n    uri: 7\n')
  expect((await findServers(at.system)).problems).toMatchObject([{ line: 4, message: expect.stringContaining('web.url') }])
})
