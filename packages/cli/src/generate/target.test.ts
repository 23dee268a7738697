import { expect, test } from 'vitest'
import { targetCode } from './target.ts'

test('a command is written literally, except for possible secrets', () => {
  const target = { command: 'npx', args: ['-y', 'github-server', '--api-key', 'abc'], env: { GITHUB_TOKEN: 'ghp_123' } }
  expect(targetCode(target, 'git hub')).toEqual({
    text: '{ command: "npx", args: ["-y", "github-server", "--api-key", variable("GIT_HUB_ARG_4")], env: { "GITHUB_TOKEN": variable("GITHUB_TOKEN") } }',
    variables: ['GIT_HUB_ARG_4', 'GITHUB_TOKEN'],
  })
})

test('a URL is written unless it contains credentials; headers never are', () => {
  expect(targetCode({ url: 'https://example.com/mcp' }, 'e').text).toBe('{ url: "https://example.com/mcp" }')
  expect(targetCode({ url: 'https://example.com/mcp?key=1', headers: { Authorization: 'Bearer x' } }, 'e')).toEqual({
    text: '{ url: variable("E_URL"), headers: { "Authorization": variable("E_AUTHORIZATION") } }',
    variables: ['E_URL', 'E_AUTHORIZATION'],
  })
})

test('a folder is written only if the command depends on it', () => {
  const folder = new URL('.', import.meta.url).pathname
  expect(targetCode({ command: 'node', args: ['./target.ts'], cwd: folder }, 'e').text).toContain('cwd: ')
  expect(targetCode({ command: 'npx', args: ['-y', '@scope/server'], cwd: folder }, 'e').text).not.toContain('cwd: ')
})
