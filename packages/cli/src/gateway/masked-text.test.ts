// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of configurations look like this
import { expect, test } from 'vitest'
import { maskConfigText } from './masked-text.ts'

const secrets = {
  args: ['-y', 'hub', '--api-key', 'abc1', '--token=abc2', '--url=https://ada:abc3@a.example/mcp?key=abc4', '--port', '3000'],
  remote: ['mcp-remote', 'https://b.example/sse', '--header', 'Authorization: Bearer abc5', '--header=X-Key: abc6'],
  shell: ['-c', 'API_KEY=abc7 run --password abc8 "Authorization: Bearer abc9"'],
  docker: ['run', '-e', 'NAME=abc10', '-e', 'PASSED=${PASSED}', 'mongodb+srv://ada:ab@c11@db.example/app'],
  json: ['--config', '{"apiKey": "abc12", "deep": {"url": "https://c.example?token=abc13"}}'],
  database: ['Server=db;User=ada;Password=abc14;Port=1'],
}

test('no secret in arguments, URLs, headers or variables is shown, in JSON and TOML', () => {
  const servers = Object.entries(secrets).map(([name, args]) => [name, { command: 'npx', args }] as const)
  const config = {
    mcpServers: {
      ...Object.fromEntries(servers),
      web: { url: 'https://ada:abc15@d.example/mcp?key=abc16#access_token=abc17', headers: { Authorization: 'Bearer abc18' } },
      list: { command: ['npx', '--secret', 'abc19'], environment: { KEY: 'abc20' }, bearer_token: 'abc21' },
      kept: { command: 'npx', args: ['--token', '${TOKEN}'], env: { A: '${A}', DEBUG: 'true' }, bearer_token_env_var: 'HUB_KEY' },
    },
  }
  const json = maskConfigText('a.json', JSON.stringify(config, undefined, 2))
  const rows = Object.entries(config.mcpServers).map(
    ([name, server]) =>
      `[mcp_servers.${name}]\n${Object.entries(server)
        .map(([key, value]) => `${key} = ${tomlOf(value)}`)
        .join('\n')}`,
  )
  const toml = maskConfigText('a.toml', rows.join('\n'))
  for (const shown of [json, toml]) {
    expect(shown).not.toMatch(/abc\d|ab@c11/u)
    for (const kept of [
      '--api-key',
      '3000',
      '${PASSED}',
      '${TOKEN}',
      '${A}',
      'true',
      'HUB_KEY',
      'b.example/sse',
      'db.example/app',
    ])
      expect(shown).toContain(kept)
  }
  expect(JSON.parse(json).mcpServers.remote.args).toEqual([
    'mcp-remote',
    'https://b.example/sse',
    '--header',
    'Authorization:***',
    '--header=X-Key:***',
  ])
  expect(toml.split('\n')).toHaveLength(rows.join('\n').split('\n').length)
})

test('secrets are found despite escaping, and by their form in other formats', () => {
  expect(maskConfigText('a.json', '{"args": ["--token", "a\\u0062c"], "url": "https:\\/\\/ada:pw@a.example"}')).toBe(
    '{"args": ["--token", "***"], "url": "https://***@a.example"}',
  )
  expect(maskConfigText('a.toml', 'args = [\'--token\', \'abc\', "--key", """one\ntwo"""]')).not.toMatch(/abc|one|two/u)
  const yaml = `  headers:\n    Authorization: Bearer abc\n  args:\n    - --key\n    - abc\n  token: unf_${'a1'.repeat(20)}\n  uri: http://ada:pw@a.example/mcp`
  expect(maskConfigText('a.yaml', yaml)).toBe(
    '  headers:\n    Authorization: ***\n  args:\n    - --key\n    - ***\n  token: ***\n  uri: http://***@a.example/mcp',
  )
})

function tomlOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(tomlOf).join(', ')}]`
  if (typeof value === 'string') return value.includes('"') ? `'${value}'` : JSON.stringify(value)
  const entries = Object.entries(value as object).map(([key, each]) => `${JSON.stringify(key)} = ${tomlOf(each)}`)
  return `{ ${entries.join(', ')} }`
}

test('the secret of a cluster and the password of its Redis are not shown', () => {
  const cluster = { url: 'redis+sentinel://ada:abc1@a.example,b.example/main', secret: 'abc2 of the cluster' }
  const shown = maskConfigText('unfold.json', JSON.stringify({ cluster }, undefined, 2))
  expect(shown).toContain('a.example,b.example/main')
  expect(shown).not.toMatch(/abc\d/u)
})
