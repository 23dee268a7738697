import fc from 'fast-check'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { type Failure, isFailure } from '../base/failure.ts'
import { declareGroups, noGroups } from '../groups/groups.ts'
import { always, type Entry, group, when } from '../tool/entry.ts'
import { declareModes } from '../tool/modes.ts'
import { buildCatalog, byVersion } from './catalog.ts'

const groups = declareGroups({ files: { description: 'Files' }, cloud: { description: 'Cloud' } })

function entry(name: string, rest: Partial<Entry> = {}): Entry {
  return {
    tool: { name, inputSchema: { type: 'object' } },
    origin: 'static',
    source: 'hub',
    visibility: always,
    tags: [],
    aliases: [],
    ...rest,
  }
}

const registered = (name: string, rest: Partial<Entry> = {}): Entry =>
  entry(name, { origin: 'dynamic', source: 'registry', ...rest })

const namesOf = (entries: readonly Entry[]): readonly string[] => entries.map(({ tool }) => tool.name)

function refusalOf(entries: readonly Entry[]): Failure {
  try {
    buildCatalog(1, entries, groups)
  } catch (error) {
    if (isFailure(error)) return error
    throw error
  }
  throw new Error('the entries were accepted')
}

describe('the order of a catalog', () => {
  test('is activators, then static entries as declared, then registered ones', () => {
    const catalog = buildCatalog(
      1,
      [
        registered('r2'),
        entry('s2'),
        registered('r1'),
        entry('activate_files', { origin: 'surface', activates: 'files' }),
        entry('s1'),
      ],
      groups,
    )
    expect(namesOf(catalog.entries)).toEqual(['activate_files', 's2', 's1', 'r2', 'r1'])
  })

  test('puts a custom activator before the other static entries', () => {
    const catalog = buildCatalog(1, [entry('read'), entry('open_files', { activates: 'files' })], groups)
    expect(namesOf(catalog.entries)).toEqual(['open_files', 'read'])
  })

  test('keeps a registered activator among the registered entries', () => {
    const catalog = buildCatalog(1, [registered('open_files', { activates: 'files' }), entry('read')], groups)
    expect(namesOf(catalog.entries)).toEqual(['read', 'open_files'])
  })

  test('is the same for the same entries', () => {
    const origins = fc.constantFrom<Entry['origin']>('surface', 'static', 'dynamic')
    fc.assert(
      fc.property(fc.array(origins, { maxLength: 20 }), (given) => {
        const entries = given.map((origin, index) => entry(`tool_${index}`, { origin }))
        const listed = buildCatalog(1, entries, noGroups).entries
        expect(listed).toEqual(buildCatalog(2, entries, noGroups).entries)
        const expected = (['surface', 'static', 'dynamic'] as const).flatMap((origin) =>
          entries.filter((one) => one.origin === origin),
        )
        expect(namesOf(listed)).toEqual(namesOf(expected))
      }),
    )
  })
})

describe('two entries with the same name', () => {
  test.each(['hub', 'registry'])('are rejected if both come from %s', (source) => {
    const failure = refusalOf([entry('read', { source }), entry('read', { source })])
    expect(failure.reason).toBe('duplicate_name')
    expect(failure.details).toEqual({ name: 'read', sources: [source] })
  })

  test('are rejected if both were registered by the same source', () => {
    expect(refusalOf([registered('read'), registered('read')]).reason).toBe('duplicate_name')
  })

  test('are rejected if both are static, from different sources', () => {
    const failure = refusalOf([entry('read'), entry('read', { source: 'other' })])
    expect(failure.message).toBe('The tool "read" is declared in hub and in other. Rename one, or give each its own version.')
  })

  test('are rejected if one is static and the other an activator', () => {
    expect(refusalOf([entry('open', { origin: 'surface', activates: 'files', source: 'surface' }), entry('open')]).reason).toBe(
      'duplicate_name',
    )
  })

  test('are a clash that the static one wins, in any order', () => {
    const [fixed, dynamic] = [entry('read'), registered('read')]
    for (const given of [
      [fixed, dynamic],
      [dynamic, fixed],
    ]) {
      const catalog = buildCatalog(1, given, groups)
      expect(catalog.entries).toEqual([fixed])
      expect(catalog.byName.get('read')).toEqual([fixed])
      expect(catalog.clashes).toEqual([{ name: 'read', winner: 'hub', loser: 'registry' }])
    }
  })

  test('are also a clash if a source has both static and registered entries', () => {
    const fixed = entry('read')
    const catalog = buildCatalog(1, [fixed, registered('read', { source: 'hub', version: '2' })], groups)
    expect(catalog.entries).toEqual([fixed])
    expect(catalog.clashes).toEqual([{ name: 'read', winner: 'hub', loser: 'hub' }])
  })

  test('are a clash that an activator wins over a registered one', () => {
    const activator = entry('activate_files', { origin: 'surface', source: 'surface', activates: 'files' })
    const catalog = buildCatalog(1, [registered('activate_files'), activator], groups)
    expect(catalog.entries).toEqual([activator])
    expect(catalog.clashes).toHaveLength(1)
  })

  test('are a clash that the first of two registering sources wins', () => {
    const catalog = buildCatalog(1, [registered('read', { source: 'a' }), registered('read', { source: 'b' })], groups)
    expect(catalog.entries.map(({ source }) => source)).toEqual(['a'])
    expect(catalog.clashes).toEqual([{ name: 'read', winner: 'a', loser: 'b' }])
  })

  test('are not a clash if they are versions from one source', () => {
    const catalog = buildCatalog(1, [entry('read', { version: '2' }), entry('read', { version: '1' })], groups)
    expect(catalog.clashes).toEqual([])
    expect(catalog.byName.get('read')?.map(({ version }) => version)).toEqual(['1', '2'])
  })

  test('are rejected if they are the same version from one source', () => {
    expect(refusalOf([entry('read', { version: '1' }), entry('read', { version: '1' })]).message).toContain('"read" in version 1')
  })
})

describe('an alias', () => {
  test('resolves to the current name', () => {
    const catalog = buildCatalog(1, [entry('read_file', { aliases: ['read', 'cat'] })], groups)
    expect([...catalog.aliases]).toEqual([
      ['read', 'read_file'],
      ['cat', 'read_file'],
    ])
  })

  test('can be shared by the versions of one tool', () => {
    const catalog = buildCatalog(
      1,
      [entry('read_file', { version: '1', aliases: ['read'] }), entry('read_file', { version: '2', aliases: ['read'] })],
      groups,
    )
    expect(catalog.aliases.get('read')).toBe('read_file')
    expect(catalog.clashes).toEqual([])
  })

  test('is rejected if another static tool has that name', () => {
    expect(refusalOf([entry('read'), entry('read_file', { aliases: ['read'] })]).reason).toBe('duplicate_name')
  })

  test('is rejected if another static tool has the same alias, and both sources are named', () => {
    const failure = refusalOf([entry('a', { aliases: ['read'] }), entry('b', { aliases: ['read'], source: 'other' })])
    expect(failure.details).toEqual({ name: 'read', sources: ['hub', 'other'] })
  })

  test('of a registered tool loses against a static one, and the clash names both sources', () => {
    const catalog = buildCatalog(1, [entry('a', { aliases: ['read'] }), registered('b', { aliases: ['read'] })], groups)
    expect(catalog.aliases.get('read')).toBe('a')
    expect(catalog.clashes).toEqual([{ name: 'read', winner: 'hub', loser: 'registry' }])
  })

  test('of a registered tool loses against a current name', () => {
    const catalog = buildCatalog(1, [entry('read'), registered('b', { aliases: ['read'] })], groups)
    expect(catalog.aliases.has('read')).toBe(false)
    expect(catalog.clashes).toEqual([{ name: 'read', winner: 'hub', loser: 'registry' }])
  })

  test('follows the naming rules', () => {
    expect(refusalOf([entry('read', { aliases: ['re ad'] })]).reason).toBe('invalid_name')
  })
})

describe('an entry is rejected', () => {
  test('if its name is invalid', () => {
    expect(refusalOf([entry('')]).reason).toBe('invalid_name')
  })

  test('if its group does not exist', () => {
    expect(refusalOf([entry('read', { visibility: group('fils') })]).message).toContain('Nearest: files.')
  })

  test('if the group that it activates does not exist', () => {
    expect(refusalOf([entry('open', { activates: 'fils' })]).reason).toBe('unknown_group')
  })
})

describe('a catalog', () => {
  const read = entry('read', { visibility: group('files'), tags: ['io', 'local'] })
  const list = entry('list', { visibility: { group: 'files', when: () => true }, tags: ['io'] })
  const deploy = entry('deploy', { visibility: when(() => true) })
  const opens = entry('open_files', { visibility: group('files'), activates: 'files' })
  const catalog = buildCatalog(7, [read, list, deploy, opens], groups)

  test('knows the tools of a group, without its activator', () => {
    expect(catalog.byGroup.get('files')).toEqual([read, list])
    expect(catalog.byGroup.has('cloud')).toBe(false)
  })

  test('knows the entries with an availability predicate', () => {
    expect(catalog.conditional).toEqual([list, deploy])
  })

  test('knows all tags', () => {
    expect(catalog.tags).toEqual(new Set(['io', 'local']))
  })

  test('has its version', () => {
    expect(catalog.version).toBe(7)
  })

  test('does not modify its input', () => {
    const given = Object.freeze([registered('b'), entry('a', { version: '2' }), entry('a', { version: '1' })])
    buildCatalog(1, given, groups)
    expect(namesOf(given)).toEqual(['b', 'a', 'a'])
  })

  test('preserves the type of the entries', () => {
    const withHandler = { ...entry('now'), handler: () => 'noon' }
    const typed = buildCatalog(1, [withHandler], groups)
    expectTypeOf(typed.byName.get('now')?.[0]?.handler).toEqualTypeOf<(() => string) | undefined>()
    expect(typed.entries[0]?.handler()).toBe('noon')
  })
})

test('versions are compared number by number, and an entry without one comes first', () => {
  const sorted = [
    { version: '1.10' },
    { version: '2' },
    {},
    { version: '1.9' },
    { version: '10' },
    { version: '1.9.1' },
  ].toSorted(byVersion)
  expect(sorted.map(({ version }) => version)).toEqual([undefined, '1.9', '1.9.1', '1.10', '2', '10'])
})

describe('modes and prerequisites in a catalog', () => {
  const modes = declareModes({
    tool: { name: 'observe', inputSchema: { type: 'object' } },
    by: 'what',
    policy: 'filtered',
    modes: [{ name: 'logs', description: 'Logs' }],
  })

  test('include the entries with modes', () => {
    const observe = entry('observe', { modes })
    expect(buildCatalog(1, [entry('now'), observe], groups).composite).toEqual([observe])
    expect(buildCatalog(1, [entry('now')], groups).composite).toEqual([])
  })

  test('include the tools that others require, declared or registered', () => {
    const catalog = buildCatalog(
      1,
      [entry('observe', { after: false }), entry('analyze', { after: 'observe' }), registered('extra', { after: 'analyze' })],
      groups,
    )
    expect([...catalog.awaited]).toEqual(['observe', 'analyze'])
    expect(buildCatalog(1, [entry('observe')], groups).awaited.size).toBe(0)
  })

  test('exclude a registered entry that is not served because of its name', () => {
    const catalog = buildCatalog(1, [entry('observe'), registered('observe', { modes, after: 'now' })], groups)
    expect(catalog.composite).toEqual([])
    expect(catalog.awaited.size).toBe(0)
  })
})
