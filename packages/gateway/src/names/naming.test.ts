import { confusableNames } from '@unfold-mcp/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { exposedName, serverSlug } from './naming.ts'
import { isReserved, reservedNames } from './reserved.ts'

const part = fc.oneof(
  fc.string({ minLength: 1, maxLength: 80 }),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }),
  // Names that could be confused with each other.
  fc
    .array(fc.constantFrom('a', 'b', '_', '__', '-', '.', 'é', 'a'.repeat(30), '_0123abcd'), { minLength: 1, maxLength: 5 })
    .map((each) => each.join('')),
)

describe('the exposed name', () => {
  test('is server__tool if that fits', () => {
    expect(exposedName('github', 'create_issue')).toBe('github__create_issue')
  })

  test('is valid for every client, for any parts, and deterministic', () => {
    fc.assert(
      fc.property(part, part, (server, tool) => {
        const name = exposedName(server, tool)
        expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/u)
        expect(name).toContain('__')
        expect(exposedName(server, tool)).toBe(name)
      }),
    )
  })

  test('is unique per server and tool, so it maps back to both', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(part, part), { maxLength: 40, selector: ([a, b]) => `${a}\0${b}` }), (pairs) => {
        const back = new Map(pairs.map((pair) => [exposedName(...pair), pair]))
        for (const pair of pairs) expect(back.get(exposedName(...pair))).toBe(pair)
      }),
    )
  })

  test.each([
    [
      ['a', 'b__c'],
      ['a__b', 'c'],
    ],
    [
      ['a_', 'b'],
      ['a', '_b'],
    ],
    [
      ['a', 'b!'],
      ['a', 'b?'],
    ],
    [
      ['a', 'x'.repeat(90)],
      ['a', 'x'.repeat(91)],
    ],
    [
      ['a'.repeat(64), 'x'],
      ['a'.repeat(65), 'x'],
    ],
  ])('distinguishes %j from %j', ([server = '', tool = ''], [otherServer = '', otherTool = '']) => {
    expect(exposedName(server, tool)).not.toBe(exposedName(otherServer, otherTool))
  })

  test('cannot be claimed by a tool named like the shortened name of another', () => {
    const victim = exposedName('a', 'b!')
    expect(victim).toMatch(/^a__b__[0-9a-f]{8}$/u)
    expect(exposedName('a', victim.slice('a__'.length))).not.toBe(victim)
  })

  test('depends only on server and tool, and stays readable', () => {
    expect(exposedName('notes', 'a tool with spaces')).toBe(
      `notes__a_tool_with_spaces_${exposedName('notes', 'a tool with spaces').slice(-8)}`,
    )
    expect(exposedName('github', 'x'.repeat(100))).toMatch(/^github__x{47}_[0-9a-f]{8}$/u)
  })
})

describe('the prefix of a server', () => {
  test.each([
    ['github', 'github'],
    ['GitHub', 'GitHub'],
    ['My Server', 'My_Server'],
    ['awslabs.docs-mcp', 'awslabs_docs-mcp'],
    ['@org/name', 'org_name'],
  ])('of %s is %s', (server, expected) => {
    expect(serverSlug(server)).toBe(expected)
  })

  test('is short, never empty, and valid for groups and tools, for any server name', () => {
    fc.assert(
      fc.property(part, (server) => {
        expect(serverSlug(server)).toMatch(/^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,38}[A-Za-z0-9])?$/u)
        expect(serverSlug(server)).not.toContain('__')
        expect(`activate_${serverSlug(server)}`.length).toBeLessThanOrEqual(64)
      }),
    )
  })

  test('differs for names of which no character can be kept', () => {
    expect(serverSlug('日本')).toMatch(/^server_[0-9a-f]{8}$/u)
    expect(serverSlug('日本')).not.toBe(serverSlug('中国'))
  })
})

describe('similar names', () => {
  test('are found', () => {
    expect(
      confusableNames(['a__Read-File', 'a__read_file', 'a__write', 'a__search_tools', 'a__search_tooIs', 'a__bum', 'a__burn']),
    ).toEqual([
      ['a__Read-File', 'a__read_file'],
      ['a__search_tools', 'a__search_tooIs'],
      ['a__bum', 'a__burn'],
    ])
  })

  test('do not include a repeated name', () => {
    expect(confusableNames(['a', 'a', 'b'])).toEqual([])
  })
})

describe('reserved names', () => {
  test.each(['search_tools', 'Search-Tools', 'search_too1s', 'activate_git', 'deactivate', 'read_result', 'call_tool'])(
    '%s is reserved',
    (name) => {
      expect(isReserved(name)).toBe(true)
    },
  )

  test.each(['search', 'activation', 'git_search_tools', 'call'])('%s is not reserved', (name) => {
    expect(isReserved(name)).toBe(false)
  })

  test('are never the name of a tool without a configured name', () => {
    fc.assert(fc.property(part, part, (server, tool) => !reservedNames.has(exposedName(serverSlug(server), tool))))
  })
})
