import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { machine } from '../../test/machine.ts'
import { resolveServer } from './resolve.ts'
import { findServers } from './servers.ts'

async function office() {
  const fixture = await machine()
  await fixture.write('~/.cursor/mcp.json', {
    mcpServers: { github: { command: 'a' }, memory: { command: 'm' }, half: { type: 'odd' } },
  })
  await fixture.write('~/.gemini/settings.json', { mcpServers: { github: { command: 'b' }, memory: { command: 'm' } } })
  return fixture
}

describe('a name', () => {
  test('finds its server', async () => {
    await using fixture = await office()
    const found = await findServers(fixture.system)
    expect(resolveServer('memory', found)).toMatchObject({ kind: 'found', server: { name: 'memory' } })
    expect(resolveServer('github@gemini', found)).toMatchObject({ kind: 'found', server: { target: { command: 'b' } } })
  })

  test('can be qualified with the client, also one that was merged', async () => {
    await using fixture = await office()
    const found = await findServers(fixture.system)
    for (const client of ['cursor', 'gemini'])
      expect(resolveServer(`memory@${client}`, found)).toMatchObject({ kind: 'found', server: { name: 'memory' } })
  })

  test('that is ambiguous lists the candidates with their files', async () => {
    await using fixture = await office()
    const choice = resolveServer('github', await findServers(fixture.system))
    const cursor = join(fixture.home, '.cursor', 'mcp.json')
    const gemini = join(fixture.home, '.gemini', 'settings.json')
    expect(choice).toEqual({
      kind: 'ambiguous',
      names: ['github@cursor', 'github@gemini'],
      message: `Server name "github" is ambiguous. Choose one of:\n  github@cursor  ${cursor}:1\n  github@gemini  ${gemini}:1`,
    })
  })

  test('of an invalid server reports the problem', async () => {
    await using fixture = await office()
    const found = await findServers(fixture.system)
    for (const name of ['half', 'half@cursor'])
      expect(resolveServer(name, found)).toMatchObject({
        kind: 'broken',
        message: expect.stringContaining('half.type: unknown type "odd".'),
      })
  })

  test('that is unknown gets the nearest ones', async () => {
    await using fixture = await office()
    expect(resolveServer('memry', await findServers(fixture.system))).toEqual({
      kind: 'unknown',
      nearest: ['memory'],
      message: 'Unknown server "memry". Nearest: memory.',
    })
  })

  test('that resembles none gets all available ones', async () => {
    await using fixture = await office()
    expect(resolveServer('zzzzzzzzzzzz', await findServers(fixture.system))).toMatchObject({
      message: 'Unknown server "zzzzzzzzzzzz". Available: github@cursor, github@gemini, memory.',
    })
  })

  test('is reported with unreadable files if there are no servers', async () => {
    await using fixture = await machine()
    await fixture.write('.mcp.json', '{')
    expect(resolveServer('a\u001b[31m', await findServers(fixture.system))).toMatchObject({
      message: expect.stringMatching(
        /^Unknown server "a\\u\{1b\}\[31m"\. No servers are configured\. Add one .* Invalid files: .*\.mcp\.json\.$/u,
      ),
    })
  })
})
