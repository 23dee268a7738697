import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Failure, isFailure } from '../base/failure.ts'
import {
  type Activation,
  initialActivation,
  isActive,
  nothingActive,
  type Plan,
  planActivate,
  planActivateAll,
  planDeactivate,
  reconcile,
  touch,
} from './activation.ts'
import { declareGroups, type GroupDeclaration, type Groups, gateName, groupOf, type Quota } from './groups.ts'

type Declarations = { readonly [name: string]: GroupDeclaration }

const description = 'A group'

const hub = {
  files: { description },
  cloud: { description },
  aws: { description, parent: 'cloud', excludes: ['gcp'] },
  gcp: { description, parent: 'cloud' },
  s3: { description, parent: 'aws', needs: ['files'] },
  backup: { description, needs: ['s3'] },
} satisfies Declarations

const groups = declareGroups(hub)

/** Independent groups. */
const flat = (quota: Quota): Groups =>
  declareGroups({ a: { description }, b: { description }, c: { description }, d: { description } }, quota)

const active = (...names: string[]): Activation => ({ ...nothingActive, groups: names })

function refusalOf(attempt: () => unknown): Failure {
  try {
    attempt()
  } catch (error) {
    if (isFailure(error)) return error
    throw error
  }
  throw new Error('nothing was refused')
}

function reasonOf(attempt: () => unknown): Failure['reason'] | undefined {
  try {
    attempt()
    return undefined
  } catch (error) {
    if (isFailure(error)) return error.reason
    throw error
  }
}

describe('at the start', () => {
  test('nothing is active without default groups', () => {
    expect(initialActivation(groups)).toBe(nothingActive)
  })

  test('default groups are active, with their ancestors and requirements', () => {
    const { s3, ...rest } = hub
    expect(initialActivation(declareGroups({ ...rest, s3: { ...s3, default: true } })).groups).toEqual([
      'cloud',
      'aws',
      'files',
      's3',
    ])
  })
})

describe('a group is active', () => {
  test('if it and every ancestor is activated', () => {
    expect(isActive(groups, active('cloud', 'aws', 'files', 's3'), 's3')).toBe(true)
    expect(isActive(groups, active('aws', 'files', 's3'), 's3')).toBe(false)
    expect(isActive(groups, active('cloud'), 'aws')).toBe(false)
  })

  test('only if it exists', () => {
    expect(isActive(groups, active('cloud'), 'nowhere')).toBe(false)
  })
})

describe('activating', () => {
  test('a group activates it and deactivates nothing', () => {
    expect(planActivate(groups, nothingActive, 'files')).toEqual({ next: active('files'), off: [], on: ['files'] })
  })

  test('activates transitive requirements first', () => {
    expect(planActivate(groups, nothingActive, 'backup').on).toEqual(['cloud', 'aws', 'files', 's3', 'backup'])
  })

  test('keeps single tools, tags and pinned versions', () => {
    const scope: Activation = { groups: [], tools: ['deploy'], tags: ['io'], versions: { deploy: '2' } }
    expect(planActivate(groups, scope, 'files').next).toEqual({ ...scope, groups: ['files'] })
  })

  test('a child is rejected while its parent is inactive', () => {
    const failure = refusalOf(() => planActivate(groups, nothingActive, 'aws'))
    expect(failure.reason).toBe('group_inactive')
    expect(failure.details).toEqual({ group: 'aws', parent: 'cloud' })
    expect(failure.message).toBe('Group "aws" is part of "cloud". Activate "cloud" first.')
  })

  test('a grandchild is rejected with the topmost inactive ancestor', () => {
    expect(refusalOf(() => planActivate(groups, nothingActive, 's3')).details).toEqual({ group: 's3', parent: 'cloud' })
    expect(refusalOf(() => planActivate(groups, active('cloud'), 's3')).details).toEqual({ group: 's3', parent: 'aws' })
  })

  test('a group deactivates the one it excludes with its dependents, children first', () => {
    const before = active('cloud', 'aws', 'files', 's3', 'backup')
    const { next, off, on } = planActivate(groups, before, 'gcp')
    expect(off).toEqual([
      { group: 'backup', because: 'dependency' },
      { group: 's3', because: 'parent' },
      { group: 'aws', because: 'excluded' },
    ])
    expect(on).toEqual(['gcp'])
    expect(next.groups).toEqual(['files', 'cloud', 'gcp'])
  })

  test('a group that another excludes deactivates that one too', () => {
    expect(planActivate(groups, active('cloud', 'gcp'), 'aws').off).toEqual([{ group: 'gcp', because: 'excluded' }])
  })

  test('a group whose requirement excludes an active one deactivates that one', () => {
    expect(planActivate(groups, active('cloud', 'gcp'), 'backup').off).toEqual([{ group: 'gcp', because: 'excluded' }])
  })

  test('an active group again only makes it the most recently used', () => {
    expect(planActivate(groups, active('cloud', 'files'), 'cloud')).toEqual({ next: active('files', 'cloud'), off: [], on: [] })
  })

  test('the most recently used group again returns the same activation', () => {
    const before = active('files', 'cloud')
    expect(planActivate(groups, before, 'cloud').next).toBe(before)
  })

  test('an unknown group is rejected with the nearest names', () => {
    expect(refusalOf(() => planActivate(groups, nothingActive, 'fils')).details).toEqual({ group: 'fils', nearest: ['files'] })
  })
})

describe('activating several at once', () => {
  test('adds their ancestors, which a single activation would require', () => {
    expect(planActivateAll(groups, nothingActive, ['s3', 'backup']).on).toEqual(['cloud', 'aws', 'files', 's3', 'backup'])
  })

  test('is rejected if two of them exclude each other', () => {
    const failure = refusalOf(() => planActivateAll(groups, nothingActive, ['s3', 'gcp']))
    expect(failure.reason).toBe('conflicting_groups')
    expect(failure.details).toEqual({ groups: ['aws', 'gcp'] })
  })

  test('is rejected if one of them does not exist', () => {
    expect(refusalOf(() => planActivateAll(groups, nothingActive, ['files', 'nowhere'])).reason).toBe('unknown_group')
  })

  test('changes nothing without names', () => {
    const before = active('files')
    expect(planActivateAll(groups, before, [])).toEqual({ next: before, off: [], on: [] })
  })
})

describe('deactivating', () => {
  test('a parent deactivates its descendants and their dependents, children first', () => {
    const before = active('cloud', 'aws', 'files', 's3', 'backup')
    const { next, off } = planDeactivate(groups, before, 'cloud')
    expect(off).toEqual([
      { group: 'backup', because: 'dependency' },
      { group: 's3', because: 'parent' },
      { group: 'aws', because: 'parent' },
      { group: 'cloud', because: 'requested' },
    ])
    expect(next.groups).toEqual(['files'])
  })

  test('a group deactivates those that require it', () => {
    const before = active('cloud', 'aws', 'files', 's3')
    expect(planDeactivate(groups, before, 'files').off).toEqual([
      { group: 's3', because: 'dependency' },
      { group: 'files', because: 'requested' },
    ])
  })

  test('a group keeps its requirements active', () => {
    const { next } = planActivate(groups, nothingActive, 'backup')
    expect(planDeactivate(groups, next, 'backup').next.groups).toEqual(['cloud', 'aws', 'files', 's3'])
  })

  test('an inactive group changes nothing', () => {
    const before = active('files')
    const plan = planDeactivate(groups, before, 'cloud')
    expect(plan).toEqual({ next: before, off: [], on: [] })
    expect(plan.next).toBe(before)
  })

  test('an unknown group is rejected', () => {
    expect(refusalOf(() => planDeactivate(groups, nothingActive, 'nowhere')).reason).toBe('unknown_group')
  })
})

describe('a quota by number', () => {
  test('evicts the least recently used group', () => {
    const plan = planActivate(flat({ groups: 2 }), active('a', 'b'), 'c')
    expect(plan).toEqual({ next: active('b', 'c'), off: [{ group: 'a', because: 'evicted' }], on: ['c'] })
  })

  test('does not evict a group that was used since', () => {
    const two = flat({ groups: 2 })
    const before = touch(two, active('a', 'b'), 'a')
    expect(planActivate(two, before, 'c').off).toEqual([{ group: 'b', because: 'evicted' }])
  })

  test('never evicts the requirements of the new group', () => {
    const two = declareGroups({ a: { description }, b: { description }, c: { description, needs: ['a'] } }, { groups: 2 })
    expect(planActivate(two, active('a', 'b'), 'c').next.groups).toEqual(['a', 'c'])
  })

  test('counts the slot of an excluded group as free', () => {
    const two = declareGroups({ a: { description }, b: { description }, c: { description, excludes: ['b'] } }, { groups: 2 })
    expect(planActivate(two, active('a', 'b'), 'c').off).toEqual([{ group: 'b', because: 'excluded' }])
  })

  test('evicts a group before its requirements, and no more than necessary', () => {
    const three = declareGroups(
      { a: { description }, b: { description, needs: ['a'] }, c: { description }, d: { description } },
      { groups: 3 },
    )
    const before = ['b', 'c'].reduce((scope, name) => planActivate(three, scope, name).next, nothingActive)
    expect(planActivate(three, before, 'd').off).toEqual([{ group: 'b', because: 'evicted' }])
  })

  test('does not evict the requirements of a group in use', () => {
    const three = declareGroups(
      { a: { description }, b: { description, needs: ['a'] }, c: { description }, d: { description } },
      { groups: 3 },
    )
    const opened = ['b', 'c'].reduce((scope, name) => planActivate(three, scope, name).next, nothingActive)
    expect(planActivate(three, touch(three, opened, 'b'), 'd').off).toEqual([{ group: 'c', because: 'evicted' }])
  })

  test('rejects with whenFull refuse, and lists the groups to deactivate', () => {
    const failure = refusalOf(() => planActivate(flat({ groups: 2, whenFull: 'refuse' }), active('a', 'b'), 'c'))
    expect(failure.reason).toBe('quota_full')
    expect(failure.details).toEqual({ group: 'c', limit: 2, what: 'groups' })
    expect(failure.message).toBe('Group "c" does not fit: this server allows 2 groups at a time. Deactivate one of: a, b.')
  })

  test('rejects a group that needs more than the whole quota', () => {
    const one = declareGroups({ a: { description }, b: { description, needs: ['a'] } }, { groups: 1 })
    const failure = refusalOf(() => planActivate(one, nothingActive, 'b'))
    expect(failure.message).toBe(
      'Group "b" cannot be activated: this server allows 1 groups at a time, and the group needs more than that by itself.',
    )
  })
})

describe('a quota by tokens', () => {
  const costs = new Map([
    ['a', 300],
    ['b', 500],
    ['c', 600],
    ['d', 1001],
  ])
  const cost = (name: string): number => costs.get(name) ?? 0
  const budget = flat({ tokens: 1000 })

  test('evicts nothing while everything fits', () => {
    expect(planActivate(budget, active('a'), 'c', cost).off).toEqual([])
  })

  test('evicts as many least recently used groups as necessary', () => {
    expect(planActivate(budget, active('a', 'b'), 'c', cost).off).toEqual([
      { group: 'a', because: 'evicted' },
      { group: 'b', because: 'evicted' },
    ])
  })

  test('rejects a group that costs more than the whole budget', () => {
    const failure = refusalOf(() => planActivate(budget, active('a'), 'd', cost))
    expect(failure.details).toEqual({ group: 'd', limit: 1000, what: 'tokens' })
    expect(failure.message).toContain('1000 tokens of active tools')
  })

  test('rejects with whenFull refuse', () => {
    const strict = flat({ tokens: 1000, whenFull: 'refuse' })
    expect(refusalOf(() => planActivate(strict, active('b'), 'c', cost)).message).toContain('Deactivate one of: b.')
  })
})

describe('using a group', () => {
  test('makes it, its ancestors and its requirements the most recently used', () => {
    const before = active('files', 'cloud', 'aws', 's3', 'backup')
    expect(touch(groups, active('cloud', 'files', 'aws'), 'aws').groups).toEqual(['files', 'cloud', 'aws'])
    expect(touch(groups, before, 's3').groups).toEqual(['backup', 'cloud', 'aws', 'files', 's3'])
  })

  test('that was used last changes nothing', () => {
    const before = active('files', 'cloud', 'aws')
    expect(touch(groups, before, 'aws')).toBe(before)
  })

  test.each(['aws', 'nowhere', '__proto__'])('that is not active changes nothing: %s', (name) => {
    const before = active('cloud')
    expect(touch(groups, before, name)).toBe(before)
  })

  test('never activates one', () => {
    expect(touch(groups, active('aws', 'files'), 'aws').groups).toEqual(['files', 'aws'])
  })

  test('that is no longer declared has no effect', () => {
    const before = active('gone', 'files')
    expect(touch(groups, before, 'gone')).toBe(before)
  })
})

describe('after the declaration changed', () => {
  test('removed groups and groups without their requirements are dropped', () => {
    expect(reconcile(groups, active('gone', 'files', 's3', 'cloud')).groups).toEqual(['files', 'cloud'])
  })

  test('a valid activation is the same object', () => {
    const before = active('cloud', 'aws', 'files', 's3')
    expect(reconcile(groups, before)).toBe(before)
  })
})

test('an activation survives being stored as JSON', () => {
  const { next } = planActivate(groups, nothingActive, 'backup')
  expect(JSON.parse(JSON.stringify(next))).toEqual(next)
})

test('the compiler rejects changing an activation in place', () => {
  const scope: Activation = { groups: [], tools: [], tags: [], versions: {} }
  // @ts-expect-error an activation is never changed in place
  scope.groups = ['files']
  // @ts-expect-error nor are its parts
  scope.tools.push('read')
  expect(nothingActive.tools).toEqual([])
})

// Random graphs and walks, checked against a second, slower implementation of the same rules.

interface Graph {
  readonly declarations: Declarations
  readonly quota: Quota
  readonly costs: { readonly [name: string]: number }
}

type Step =
  | { readonly kind: 'activate' | 'deactivate' | 'touch'; readonly name: string }
  | { readonly kind: 'all'; readonly names: readonly string[] }

const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
const anyName = fc.constantFrom(...names)
const someNames = fc.uniqueArray(anyName, { maxLength: 2 })

const quotas: fc.Arbitrary<Quota> = fc.record(
  {
    groups: fc.integer({ min: 1, max: 7 }),
    tokens: fc.integer({ min: 1, max: 60 }),
    whenFull: fc.constantFrom('evict' as const, 'evict' as const, 'refuse' as const),
  },
  { requiredKeys: [] },
)

/** Graphs of groups; `mayRefer` selects the names that a group may depend on. */
function graphs(mayRefer: (group: string, other: string) => boolean): fc.Arbitrary<Graph> {
  const declared = names.map((name) =>
    fc
      .record({
        parent: fc.option(anyName, { nil: undefined }),
        needs: someNames,
        excludes: fc.oneof({ weight: 3, arbitrary: fc.constant<string[]>([]) }, { weight: 1, arbitrary: someNames }),
        default: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.boolean() }),
      })
      .map(({ parent, needs, ...rest }): GroupDeclaration => {
        const kept = { description, needs: needs.filter((other) => mayRefer(name, other)), ...rest }
        return parent !== undefined && mayRefer(name, parent) ? { ...kept, parent } : kept
      }),
  )
  return fc.record({
    declarations: fc.tuple(...declared).map((all) => Object.fromEntries(all.map((one, index) => [names[index] ?? '', one]))),
    quota: quotas,
    costs: fc
      .tuple(...names.map(() => fc.nat(20)))
      .map((all) => Object.fromEntries(all.map((one, index) => [names[index] ?? '', one]))),
  })
}

const walks: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ kind: fc.constant('activate' as const), name: anyName }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('touch' as const), name: anyName }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('deactivate' as const), name: anyName }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('all' as const), names: someNames }) },
  ),
  { maxLength: 40 },
)

/** The direct dependencies of a group. */
const under = (declarations: Declarations, name: string): readonly string[] => {
  const { parent, needs = [] } = declarations[name] ?? {}
  return parent === undefined ? needs : [parent, ...needs]
}

/** The groups and their transitive dependencies, found by growing the set until nothing is added. */
function support(declarations: Declarations, wanted: Iterable<string>): Set<string> {
  const found = new Set(wanted)
  for (let size = -1; size !== found.size; ) {
    size = found.size
    for (const name of found) for (const other of under(declarations, name)) found.add(other)
  }
  return found
}

const standsOn = (declarations: Declarations, name: string, other: string): boolean =>
  support(declarations, under(declarations, name)).has(other)

const exclude = (declarations: Declarations, one: string, other: string): boolean =>
  declarations[one]?.excludes?.includes(other) === true || declarations[other]?.excludes?.includes(one) === true

const clashing = (declarations: Declarations, set: Iterable<string>): boolean => {
  const all = [...set]
  return all.some((one) => all.some((other) => exclude(declarations, one, other)))
}

const fits = ({ quota, costs }: Graph, set: Iterable<string>): boolean => {
  const all = [...set]
  const spent = all.reduce((sum, name) => sum + (costs[name] ?? 0), 0)
  return all.length <= (quota.groups ?? Number.POSITIVE_INFINITY) && spent <= (quota.tokens ?? Number.POSITIVE_INFINITY)
}

/** Why this declaration must be rejected, if it must. */
function flawOf({ declarations, quota }: Graph): 'group_cycle' | 'conflicting_groups' | undefined {
  const selfish = names.some((name) => exclude(declarations, name, name))
  if (selfish) return 'conflicting_groups'
  if (names.some((name) => standsOn(declarations, name, name))) return 'group_cycle'
  if (names.some((name) => clashing(declarations, support(declarations, [name])))) return 'conflicting_groups'
  const defaults = support(
    declarations,
    names.filter((name) => declarations[name]?.default === true),
  )
  return clashing(declarations, defaults) || defaults.size > (quota.groups ?? defaults.size) ? 'conflicting_groups' : undefined
}

/** The active groups and when each was last used. */
interface WalkState {
  readonly graph: Graph
  readonly groups: Groups
  readonly activation: Activation
  readonly usedAt: ReadonlyMap<string, number>
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const part of Object.values(value)) deepFreeze(part)
  }
  return value
}

const isOn = ({ activation }: WalkState, name: string): boolean => activation.groups.includes(name)

/** Why this step must be rejected, if it must. */
function refusalExpected(state: WalkState, step: Step): Failure['reason'] | undefined {
  const { graph, activation } = state
  if (step.kind === 'deactivate' || step.kind === 'touch') return undefined
  const { declarations } = graph
  const asked = step.kind === 'all' ? step.names : [step.name]
  const parent = step.kind === 'all' ? undefined : declarations[step.name]?.parent
  if (parent !== undefined && !isOn(state, parent)) return 'group_inactive'
  const wanted = support(declarations, asked)
  if (clashing(declarations, wanted)) return 'conflicting_groups'
  if (!fits(graph, wanted)) return 'quota_full'
  const left = activation.groups.filter((name) => !clashing(declarations, new Set([...wanted, ...support(declarations, [name])])))
  return graph.quota.whenFull === 'refuse' && !fits(graph, new Set([...left, ...wanted])) ? 'quota_full' : undefined
}

function planOfStep({ graph, groups: declared, activation }: WalkState, step: Step): Plan {
  const cost = (name: string): number => graph.costs[name] ?? 0
  if (step.kind === 'all') return planActivateAll(declared, activation, step.names, cost)
  if (step.kind === 'activate') return planActivate(declared, activation, step.name, cost)
  if (step.kind === 'deactivate') return planDeactivate(declared, activation, step.name)
  return { next: touch(declared, activation, step.name), off: [], on: [] }
}

const sameSet = (one: Iterable<string>, other: Iterable<string>): boolean =>
  [...new Set(one)].toSorted().join() === [...new Set(other)].toSorted().join()

/** Whether every group comes after those that must come first. */
const inOrder = (list: readonly string[], mustPrecede: (one: string, other: string) => boolean): boolean =>
  list.every((name, index) => !list.slice(index + 1).some((later) => mustPrecede(later, name)))

/** A message for each rule that this plan breaks. */
function brokenRules(state: WalkState, step: Step, plan: Plan): readonly string[] {
  const { graph, activation } = state
  const { declarations } = graph
  const before = activation.groups
  const after = plan.next.groups
  const off = plan.off.map(({ group }) => group)
  const rules: { readonly [rule: string]: boolean } = {
    'no group is listed twice': new Set(after).size === after.length,
    'next is what was there, without off, with on': sameSet(after, [...before.filter((name) => !off.includes(name)), ...plan.on]),
    'only active groups are switched off': off.every((name) => before.includes(name)),
    'only inactive groups are switched on': !plan.on.some((name) => before.includes(name)),
    'all that an active group stands on is active': sameSet(after, support(declarations, after)),
    'no two active groups exclude each other': !clashing(declarations, after),
    'the quota holds': fits(graph, after),
    'off lists a group after all that stand on it': inOrder(off, (one, other) => standsOn(declarations, one, other)),
    'on lists a group before all that stand on it': inOrder(plan.on, (one, other) => standsOn(declarations, other, one)),
    ...rulesOfStep(state, step, plan),
  }
  return Object.keys(rules).filter((rule) => rules[rule] === false)
}

function rulesOfStep(state: WalkState, step: Step, { next, off, on }: Plan): { readonly [rule: string]: boolean } {
  const { declarations } = state.graph
  const before = state.activation.groups
  const gone = off.map(({ group }) => group)
  if (step.kind === 'touch') return { 'using a group switches nothing': sameSet(next.groups, before) }
  if (step.kind === 'deactivate') {
    const falls = (name: string): boolean => name === step.name || standsOn(declarations, name, step.name)
    return { 'off is just what cannot stay': sameSet(gone, before.filter(falls)) }
  }
  const asked = step.kind === 'all' ? step.names : [step.name]
  const wanted = support(declarations, asked)
  const losers = before.filter((name) => clashing(declarations, new Set([...wanted, ...support(declarations, [name])])))
  const evicted = gone.filter((name) => !losers.includes(name))
  const contenders = new Set([...before.filter((name) => !losers.includes(name)), ...wanted])
  const lastUse = (name: string): number => state.usedAt.get(name) ?? 0
  const oldestKept = Math.min(...next.groups.filter((name) => !wanted.has(name)).map(lastUse))
  return {
    'what was asked for is active': asked.every((name) => next.groups.includes(name)),
    'nothing is switched for groups that are active':
      on.length + off.length === 0 || !asked.every((name) => before.includes(name)),
    'what is excluded goes, with all that stands on it': losers.every((name) => gone.includes(name)),
    'nothing is evicted when all fit': evicted.length === 0 || !fits(state.graph, contenders),
    'what is evicted was used before all that stays': evicted.every((name) => lastUse(name) <= oldestKept),
  }
}

/** Without cycles: a group depends only on names before its own. */
const downward = (group: string, other: string): boolean => other < group

describe('random groups', () => {
  test('are accepted or rejected by the rules', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          graphs(() => true),
          graphs(downward),
        ),
        (graph) => {
          expect(reasonOf(() => declareGroups(graph.declarations, graph.quota))).toBe(flawOf(graph))
        },
      ),
      { numRuns: 1000 },
    )
  })

  test('keep every rule in any sequence of activating, deactivating and using', () => {
    fc.assert(
      fc.property(graphs(downward), walks, (graph, steps) => {
        fc.pre(flawOf(graph) === undefined)
        const declared = declareGroups(deepFreeze(graph.declarations), deepFreeze(graph.quota))
        const untouched = structuredClone(declared)
        const initial = initialActivation(declared)
        expect(new Set(initial.groups)).toEqual(support(graph.declarations, initial.groups))
        // The cost of default groups is not known at declaration.
        let activation = deepFreeze(fits(graph, initial.groups) ? initial : nothingActive)
        const usedAt = new Map<string, number>()
        for (const [index, step] of steps.entries()) {
          const state: WalkState = { graph, groups: declared, activation, usedAt }
          const refusal = reasonOf(() => planOfStep(state, step))
          expect(refusal).toBe(refusalExpected(state, step))
          if (refusal !== undefined) continue
          const plan = planOfStep(state, step)
          expect(brokenRules(state, step, plan)).toEqual([])
          activation = deepFreeze(plan.next)
          const used = step.kind === 'all' ? step.names : step.kind === 'deactivate' ? [] : [step.name]
          const inUse = used.filter((name) => activation.groups.includes(name))
          for (const name of support(graph.declarations, inUse)) usedAt.set(name, index + 1)
          const times = activation.groups.map((name) => usedAt.get(name) ?? 0)
          expect(times).toEqual(times.toSorted((one, other) => one - other))
        }
        expect(declared).toEqual(untouched)
      }),
      { numRuns: 1000 },
    )
  })
})

describe('a gate', () => {
  const gated = declareGroups(
    {
      [gateName]: { description: 'Everything' },
      a: { description: 'A' },
      b: { description: 'B', parent: 'a' },
      c: { description: 'C', default: true },
    },
    { groups: 2 },
  )

  test('is the parent of all root groups, and nothing behind it is active while it is closed', () => {
    expect([...gated.byName.values()].map(({ name, parent }) => [name, parent])).toEqual([
      [gateName, undefined],
      ['a', gateName],
      ['b', 'a'],
      ['c', gateName],
    ])
    expect(initialActivation(gated)).toBe(nothingActive)
    expect(() => planActivate(gated, nothingActive, 'a')).toThrow('Group "a" is part of the gate. Activate the gate first.')
  })

  test('activates the default groups when opened, does not count towards quotas and is never evicted', () => {
    const opened = planActivate(gated, nothingActive, gateName)
    expect(opened.on).toEqual([gateName, 'c'])
    const two = planActivate(gated, opened.next, 'a')
    expect(two.off).toEqual([])
    expect(planActivate(gated, two.next, 'b').off).toEqual([{ group: 'c', because: 'evicted' }])
    expect(planDeactivate(gated, two.next, gateName).next.groups).toEqual([])
  })

  test('is not in any list of groups', () => {
    expect(() => groupOf(gated, 'd')).toThrow('Groups: a, b, c.')
  })
})
