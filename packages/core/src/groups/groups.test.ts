import fc from 'fast-check'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { type Failure, isFailure } from '../base/failure.ts'
import {
  ancestorsOf,
  childrenFirst,
  closureOf,
  declareGroups,
  dependentClosure,
  findConflict,
  type GroupDeclaration,
  groupOf,
  noGroups,
  type Quota,
} from './groups.ts'

type Declarations = { readonly [name: string]: GroupDeclaration }

const description = 'A group'

const cloud = declareGroups({
  cloud: { description: 'Cloud providers' },
  aws: { description: 'AWS', parent: 'cloud', excludes: ['gcp'] },
  gcp: { description: 'GCP', parent: 'cloud' },
  s3: { description: 'S3', parent: 'aws', needs: ['files'] },
  files: { description: 'Files' },
})

function refusalOf(declarations: Declarations, quota?: Quota): Failure {
  try {
    declareGroups(declarations, quota)
  } catch (error) {
    if (isFailure(error)) return error
    throw error
  }
  throw new Error('the declaration was accepted')
}

describe('declared groups', () => {
  test('are found by name, with defaults applied', () => {
    expect(groupOf(cloud, 'files')).toEqual({
      name: 'files',
      description: 'Files',
      parent: undefined,
      excludes: new Set(),
      needs: [],
      default: false,
      versions: {},
      strict: false,
    })
  })

  test('exclude each other if one side declares it', () => {
    expect(groupOf(cloud, 'aws').excludes).toEqual(new Set(['gcp']))
    expect(groupOf(cloud, 'gcp').excludes).toEqual(new Set(['aws']))
  })

  test('know their children and dependents', () => {
    expect(cloud.children.get('cloud')).toEqual(['aws', 'gcp'])
    expect(cloud.dependents.get('files')).toEqual(['s3'])
  })

  test('may be empty', () => {
    expect(noGroups.byName.size).toBe(0)
  })

  test('can be named like a property of Object.prototype', () => {
    const groups = declareGroups({ constructor: { description }, toString: { description, parent: 'constructor' } })
    expect(ancestorsOf(groups, 'toString')).toEqual(['constructor'])
  })

  test('keep the quota', () => {
    expect(declareGroups({ a: { description } }, { groups: 2, tokens: 1000, whenFull: 'refuse' }).quota).toEqual({
      groups: 2,
      tokens: 1000,
      whenFull: 'refuse',
    })
  })
})

describe('a declaration is rejected', () => {
  test.each<[string, Declarations]>([
    ['a parent', { a: { description, parent: 'fils' }, files: { description } }],
    ['a need', { a: { description, needs: ['fils'] }, files: { description } }],
    ['an exclusion', { a: { description, excludes: ['fils'] }, files: { description } }],
  ])('when %s does not exist', (_, declarations) => {
    const failure = refusalOf(declarations)
    expect(failure.reason).toBe('unknown_group')
    expect(failure.message).toBe('Unknown group "fils". Group "a" refers to it. Nearest: files. Groups: a, files.')
  })

  test.each<[string, Declarations, readonly string[]]>([
    ['is its own parent', { a: { description, parent: 'a' } }, ['a', 'a']],
    ['needs itself', { a: { description, needs: ['a'] } }, ['a', 'a']],
    ['is its own grandparent', { a: { description, parent: 'b' }, b: { description, parent: 'a' } }, ['a', 'b', 'a']],
    [
      'needs one that needs it',
      { a: { description, needs: ['b'] }, b: { description, needs: ['c'] }, c: { description, needs: ['a'] } },
      ['a', 'b', 'c', 'a'],
    ],
    ['needs its own child', { a: { description, needs: ['b'] }, b: { description, parent: 'a' } }, ['a', 'b', 'a']],
  ])('when a group %s', (_, declarations, path) => {
    const failure = refusalOf(declarations)
    expect(failure.reason).toBe('group_cycle')
    expect(failure.details).toEqual({ path })
    expect(failure.message).toContain(path.join(' → '))
  })

  test('with only the cycle as its path, not the way to it', () => {
    const failure = refusalOf({
      way: { description, needs: ['a'] },
      a: { description, needs: ['b'] },
      b: { description, needs: ['a'] },
    })
    expect(failure.details).toEqual({ path: ['a', 'b', 'a'] })
  })

  test.each<[string, Declarations]>([
    ['excludes itself', { a: { description, excludes: ['a'] } }],
    ['excludes its parent', { a: { description }, b: { description, parent: 'a', excludes: ['a'] } }],
    ['excludes its child', { a: { description, excludes: ['b'] }, b: { description, parent: 'a' } }],
    ['excludes what it needs', { a: { description }, b: { description, needs: ['a'], excludes: ['a'] } }],
    [
      'needs two that exclude each other',
      { a: { description }, b: { description, excludes: ['a'] }, c: { description, needs: ['a', 'b'] } },
    ],
    [
      'and a far ancestor need what cannot be together',
      {
        x: { description },
        y: { description, excludes: ['x'] },
        a: { description, needs: ['x'] },
        b: { description, parent: 'a' },
        c: { description, parent: 'b', needs: ['y'] },
      },
    ],
    ['on by default excludes another', { a: { description, default: true }, b: { description, default: true, excludes: ['a'] } }],
    [
      'on by default needs what another excludes',
      { a: { description }, b: { description, default: true, needs: ['a'] }, c: { description, default: true, excludes: ['a'] } },
    ],
  ])('when a group %s', (_, declarations) => {
    expect(refusalOf(declarations).reason).toBe('conflicting_groups')
  })

  test('if the default groups exceed the quota', () => {
    const failure = refusalOf({ a: { description }, b: { description, parent: 'a', default: true } }, { groups: 1 })
    expect(failure.reason).toBe('conflicting_groups')
    expect(failure.details).toEqual({ groups: ['a', 'b'] })
  })

  test.each(['', 'file ops', '__proto__', 'x'.repeat(101)])('when a group is named %j', (name) => {
    expect(refusalOf(Object.fromEntries([[name, { description }]])).reason).toBe('invalid_name')
  })

  test.each<Quota>([
    { groups: 0 },
    { groups: 1.5 },
    { tokens: -1 },
    { tokens: Number.NaN },
    { groups: Number.POSITIVE_INFINITY },
  ])('when the quota is %o', (quota) => {
    expect(refusalOf({ a: { description } }, quota).reason).toBe('invalid_declaration')
  })
})

describe('looking up a group', () => {
  test('that does not exist names the nearest and all groups', () => {
    expect(() => groupOf(cloud, 'clod')).toThrow('Unknown group "clod". Nearest: cloud. Groups: cloud, aws, gcp, s3, files.')
  })

  test('without any groups is reported as such', () => {
    expect(() => groupOf(noGroups, 'files')).toThrow('Unknown group "files". This server has no groups.')
  })

  test('names the first twenty of many groups', () => {
    const many = declareGroups(Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`group_${index}`, { description }])))
    expect(() => groupOf(many, 'zzz')).toThrow(/group_19, …\.$/)
  })

  test('with a hostile name shows it escaped and truncated', () => {
    expect(() => groupOf(cloud, `\u001b[2J${'x'.repeat(100_000)}`)).toThrow(/^Unknown group "\\u\{1b\}\[2Jx{116}…"\./)
  })

  test.each(['__proto__', 'constructor', 'toString'])('named %s finds only declared groups', (name) => {
    expect(() => groupOf(cloud, name)).toThrow('Unknown group')
  })
})

describe('relations of a group', () => {
  test('its ancestors are listed nearest first', () => {
    expect(ancestorsOf(cloud, 's3')).toEqual(['aws', 'cloud'])
    expect(ancestorsOf(cloud, 'nowhere')).toEqual([])
  })

  test('its transitive requirements come in activation order', () => {
    expect(closureOf(cloud, 's3')).toEqual(['cloud', 'aws', 'files', 's3'])
  })

  test('its transitive dependents come in deactivation order', () => {
    expect(dependentClosure(cloud, 'cloud')).toEqual(['s3', 'aws', 'gcp', 'cloud'])
    expect(dependentClosure(cloud, 'files')).toEqual(['s3', 'files'])
  })

  test('groups are sorted children first without adding any', () => {
    expect(childrenFirst(cloud, ['cloud', 's3'])).toEqual(['s3', 'cloud'])
  })

  test('two that exclude each other are found among many', () => {
    expect(findConflict(cloud, ['files', 'aws', 'cloud', 'gcp'])).toEqual(['aws', 'gcp'])
    expect(findConflict(cloud, ['files', 'aws', 'cloud'])).toBeUndefined()
  })
})

test('a group depends on another exactly if it is deactivated with it', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f']
  const graph = fc.tuple(
    ...names.map((_, index) =>
      fc.record({
        parent: fc.option(fc.nat(Math.max(0, index - 1)), { nil: undefined }),
        needs: fc.array(fc.nat(5), { maxLength: 2 }),
      }),
    ),
  )
  fc.assert(
    fc.property(graph, (picks) => {
      const groups = declareGroups(
        Object.fromEntries(
          picks.map(({ parent, needs }, index) => [
            names[index] ?? '',
            {
              description,
              ...(parent === undefined || index === 0 ? {} : { parent: names[parent] ?? '' }),
              needs: needs.filter((need) => need < index).map((need) => names[need] ?? ''),
            },
          ]),
        ),
      )
      for (const one of names) {
        for (const other of names) {
          expect(closureOf(groups, one).includes(other)).toBe(dependentClosure(groups, other).includes(one))
        }
      }
    }),
  )
})

test('a declaration is checked against the other group names', () => {
  type Name = 'issues' | 'labels'
  const labels: GroupDeclaration<Name> = { description: 'Labels on issues', parent: 'issues' }
  // @ts-expect-error 'isues' is not one of the groups
  const misspelt: GroupDeclaration<Name> = { description: 'Labels on issues', parent: 'isues' }
  // @ts-expect-error 'repo' is not one of the groups
  const stranger: GroupDeclaration<Name> = { description: 'Labels on issues', needs: ['repo'] }
  // A group without a description is described by its tools.
  const silent: GroupDeclaration<Name> = { parent: 'issues' }
  expectTypeOf(labels.parent).toEqualTypeOf<Name | undefined>()
  expect([labels, misspelt, stranger, silent]).toHaveLength(4)
})
