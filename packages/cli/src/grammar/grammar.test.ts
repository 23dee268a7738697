import { describe, expect, test } from 'vitest'
import { parse } from './grammar.ts'

describe('our own flags', () => {
  test.each([
    ['before the verb', ['-q', 'list', 'github'], { verb: 'list', positionals: ['github'] }],
    [
      'before a server',
      ['-q', 'github', 'create_issue'],
      { verb: 'call', positionals: ['github', 'create_issue'], isImplied: true },
    ],
    ['after the verb', ['list', '-q', 'github'], { verb: 'list', positionals: ['github'] }],
    ['after the tool', ['call', 'github', 'create_issue', '-q'], { positionals: ['github', 'create_issue'], rest: [] }],
    [
      'among its arguments',
      ['github', 'create_issue', '--title', 'It broke', '-q', 'x=1'],
      { rest: ['--title', 'It broke', 'x=1'] },
    ],
    [
      'after an address that is added',
      ['add', 'web', 'https://a.example/mcp', '-q'],
      { positionals: ['web', 'https://a.example/mcp'] },
    ],
  ])('are short or long: %s', (_where, argv, expected) => {
    for (const flag of ['-q', '--quiet'])
      expect(parse(argv.map((word) => (word === '-q' ? flag : word)))).toMatchObject({ ...expected, flags: { quiet: true } })
  })

  test('can be combined as letters if all are flags', () => {
    expect(parse(['call', 'github', 'tool', '-qy'])).toMatchObject({ rest: [], flags: { quiet: true, yes: true } })
    expect(parse(['logs', '-fq'])).toMatchObject({ positionals: [], flags: { follow: true, quiet: true } })
    expect(parse(['call', 'github', 'tool', '--title', '-x', '-5'])).toMatchObject({ rest: ['--title', '-x', '-5'], flags: {} })
    expect(parse(['search', 'github', '-foo'])).toMatchObject({ positionals: ['github', '-foo'] })
  })

  test('of an added command or after -- belong to that command', () => {
    expect(parse(['add', 'files', 'npx', '-y', 'files-mcp', '-q', '--lazy'])).toMatchObject({
      rest: ['-y', 'files-mcp', '-q'],
      flags: { lazy: true },
    })
    expect(parse(['-q', 'list', '--', 'npx', '-y', 'files-mcp'])).toMatchObject({
      command: ['npx', '-y', 'files-mcp'],
      flags: { quiet: true },
    })
  })

  test('that are unknown are rejected with the nearest ones', () => {
    expect(() => parse(['list', '-x'])).toThrow('Unknown flag -x.')
    expect(() => parse(['--jsn', 'list'])).toThrow('Unknown flag --jsn. Nearest: --json, --jsonl.')
    expect(() => parse(['list', '--quite'])).toThrow('Nearest: --quiet. Run "unfold list --help" for usage.')
  })
})
