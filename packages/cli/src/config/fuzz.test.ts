import fc from 'fast-check'
import { expect, test } from 'vitest'
import { propertyRuns } from '../../../../test/runs.ts'
import { machine } from '../../test/machine.ts'
import { findServers } from './servers.ts'

const field = fc.constantFrom(
  'command',
  'args',
  'env',
  'url',
  'headers',
  'type',
  'cwd',
  'envFile',
  'disabled',
  'env_vars',
  '__proto__',
)
const definition = fc.dictionary(field, fc.jsonValue({ maxDepth: 3 }))
const document = fc.oneof(
  fc.jsonValue({ maxDepth: 4 }),
  fc.record({ mcpServers: fc.dictionary(fc.string(), fc.oneof(definition, fc.jsonValue())), inputs: fc.jsonValue() }),
)
const text = fc.oneof(
  document.map((value) => JSON.stringify(value)),
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc
    .array(fc.constantFrom('{', '}', '[', ']', '"mcpServers"', ':', ',', '"a"', '//', '/*', '\n', 'null', '$', '1'))
    .map((parts) => parts.join('')),
  fc
    .array(fc.constantFrom('[mcp_servers.', 'a', ']', '\n', '=', '"', "'''", '.', 'command', '1', '#', '{', '}'))
    .map((parts) => parts.join('')),
)

test('regardless of file contents, servers of other files are found and every problem has a location', async () => {
  await using fixture = await machine()
  await fixture.write('~/.gemini/settings.json', { mcpServers: { 'good one': { command: 'a' } } })
  await fc.assert(
    fc.asyncProperty(text, text, async (json, toml) => {
      await fixture.write('.mcp.json', json)
      await fixture.write('~/.claude.json', json)
      await fixture.write('~/.codex/config.toml', toml)
      const { servers, problems } = await findServers(fixture.system)
      expect(servers.some(({ key, source }) => key === 'good one' && source.client === 'gemini')).toBe(true)
      for (const { line, column, message } of problems) {
        expect(line).toBeGreaterThan(0)
        expect(column).toBeGreaterThan(0)
        expect(message).not.toBe('')
      }
    }),
    propertyRuns({ long: 300, sample: 60 }),
  )
})
