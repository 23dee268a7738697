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
  test('leads to its server', async () => {
    await using fixture = await office()
    const found = await findServers(fixture.system)
    expect(resolveServer('memory', found)).toMatchObject({ kind: 'found', server: { name: 'memory' } })
    expect(resolveServer('github@gemini', found)).toMatchObject({ kind: 'found', server: { target: { command: 'b' } } })
  })

  test('may say the program where it need not, also one that was merged', async () => {
    await using fixture = await office()
    const found = await findServers(fixture.system)
    for (const client of ['cursor', 'gemini'])
      expect(resolveServer(`memory@${client}`, found)).toMatchObject({ kind: 'found', server: { name: 'memory' } })
  })

  test('that several have lists them with their files', async () => {
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

  test('of a server that is broken says why, not that there is none', async () => {
    await using fixture = await office()
    const found = await findServers(fixture.system)
    for (const name of ['half', 'half@cursor'])
      expect(resolveServer(name, found)).toMatchObject({
        kind: 'broken',
        message: expect.stringContaining('half.type: unknown type "odd".'),
      })
  })

  test('that nobody has gets the nearest', async () => {
    await using fixture = await office()
    expect(resolveServer('memry', await findServers(fixture.system))).toEqual({
      kind: 'unknown',
      nearest: ['memory'],
      message: 'Unknown server "memry". Nearest: memory.',
    })
  })

  test('that nothing is near to gets all there are', async () => {
    await using fixture = await office()
    expect(resolveServer('zzzzzzzzzzzz', await findServers(fixture.system))).toMatchObject({
      message: 'Unknown server "zzzzzzzzzzzz". Available: github@cursor, github@gemini, memory.',
    })
  })

  test('is told that there are no servers at all, and which files could not be read', async () => {
    await using fixture = await machine()
    const file = await fixture.write('.mcp.json', '{')
    expect(resolveServer('a\u001b[31m', await findServers(fixture.system))).toMatchObject({
      message: `Unknown server "a\\u{1b}[31m". No servers are configured. Invalid files: ${file}.`,
    })
  })
})
