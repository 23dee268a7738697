import fc from 'fast-check'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { type Activation, nothingActive } from '../groups/activation.ts'
import { declareGroups, type Groups } from '../groups/groups.ts'
import { always, type Entry, group, type Snapshot, type Surface, when } from '../tool/entry.ts'
import { declareModes, type ModePolicy } from '../tool/modes.ts'
import type { ToolAnnotations } from '../tool/tool.ts'
import { buildCatalog, type Catalog } from './catalog.ts'
import {
  appended,
  awaitsPrerequisite,
  computeView,
  isAvailable,
  isStrict,
  resolve,
  snapshotOf,
  unavailableEntries,
  type ViewInputs,
  viewFingerprint,
} from './view.ts'

const groups = declareGroups({
  files: { description: 'Files' },
  cloud: { description: 'Cloud' },
  aws: { description: 'AWS', parent: 'cloud' },
  vault: { description: 'Secrets', strict: true },
  keys: { description: 'Keys', parent: 'vault' },
  next: { description: 'What comes next', versions: { deploy: '3-beta' } },
  stable: { description: 'What is known to work', versions: { deploy: '1' } },
})

interface Options extends Partial<Omit<Entry, 'tool'>> {
  readonly annotations?: ToolAnnotations
}

function entry(name: string, { annotations, ...rest }: Options = {}): Entry {
  return {
    tool: { name, inputSchema: { type: 'object' }, ...(annotations === undefined ? {} : { annotations }) },
    origin: 'static',
    source: 'hub',
    visibility: always,
    tags: [],
    aliases: [],
    ...rest,
  }
}

const opener = (name: string): Entry => entry(`activate_${name}`, { origin: 'surface', source: 'surface', activates: name })

function inputs(rest: Partial<Omit<ViewInputs, 'activation'>> & { readonly activation?: Partial<Activation> } = {}): ViewInputs {
  return {
    groups,
    exposure: 'groups',
    surfaces: new Set<Surface>(['activators']),
    hints: 'none',
    readOnly: false,
    unavailable: new Set(),
    modes: new Map(),
    everyMode: false,
    succeeded: undefined,
    forbidden: new Set(),
    ...rest,
    activation: { ...nothingActive, ...rest.activation },
  }
}

const catalogOf = (...entries: readonly Entry[]): Catalog => buildCatalog(1, entries, groups)

const namesOf = (entries: readonly Entry[]): readonly string[] => entries.map(({ tool }) => tool.name)

const shownIn = (catalog: Catalog, at: ViewInputs): readonly string[] => namesOf(computeView(catalog, at).entries)

const now = entry('now')
const read = entry('read', { visibility: group('files'), tags: ['io'], annotations: { readOnlyHint: true } })
const write = entry('write', { visibility: group('files') })
const upload = entry('upload', { visibility: group('aws'), tags: ['io'] })
const hub = catalogOf(opener('files'), opener('cloud'), opener('aws'), now, read, write, upload)

describe('a view', () => {
  test('shows activators and tools without a group from the start', () => {
    expect(shownIn(hub, inputs())).toEqual(['activate_files', 'activate_cloud', 'activate_aws', 'now'])
  })

  test('shows the tools of an active group in catalog order', () => {
    expect(shownIn(hub, inputs({ surfaces: new Set<Surface>(), activation: { groups: ['files'] } }))).toEqual([
      'now',
      'read',
      'write',
    ])
  })

  test('shows the tools of a child group only while every ancestor is active', () => {
    expect(shownIn(hub, inputs({ surfaces: new Set<Surface>(), activation: { groups: ['aws'] } }))).toEqual(['now'])
    expect(shownIn(hub, inputs({ surfaces: new Set<Surface>(), activation: { groups: ['cloud', 'aws'] } }))).toEqual([
      'now',
      'upload',
    ])
  })

  test('shows a single requested tool of an inactive group', () => {
    expect(shownIn(hub, inputs({ surfaces: new Set<Surface>(), activation: { tools: ['write'] } }))).toEqual(['now', 'write'])
  })

  test('shows the tools of a tag across groups', () => {
    expect(shownIn(hub, inputs({ surfaces: new Set<Surface>(), activation: { tags: ['io'] } }))).toEqual([
      'now',
      'read',
      'upload',
    ])
  })

  test('lists everything with the exposure everything', () => {
    expect(shownIn(hub, inputs({ exposure: 'everything', surfaces: new Set<Surface>() }))).toEqual([
      'now',
      'read',
      'write',
      'upload',
    ])
  })

  test('shows no activators to a client that does not re-list', () => {
    const byHand = entry('open_files', { activates: 'files' })
    expect(shownIn(catalogOf(opener('files'), byHand, read), inputs({ surfaces: new Set<Surface>() }))).toEqual([])
  })

  test('never shows unavailable tools', () => {
    const unavailable = new Set([read, now])
    expect(shownIn(hub, inputs({ surfaces: new Set<Surface>(), unavailable, exposure: 'everything' }))).toEqual([
      'write',
      'upload',
    ])
  })

  test('preserves the type of the entries', () => {
    const withHandler = { ...entry('now'), handler: () => 'noon' }
    const typed: ViewInputs<typeof withHandler> = { ...inputs(), unavailable: new Set(), forbidden: new Set(), modes: new Map() }
    const { entries } = computeView(buildCatalog(1, [withHandler], groups), typed)
    expectTypeOf(entries).toEqualTypeOf<readonly (typeof withHandler)[]>()
    expect(entries[0]?.handler()).toBe('noon')
  })
})

describe('a strict group', () => {
  const catalog = catalogOf(
    entry('read_secret', { visibility: group('vault'), tags: ['io'] }),
    entry('rotate_key', { visibility: group('keys'), tags: ['io'] }),
  )

  test.each<[string, ViewInputs]>([
    ['everything is exposed', inputs({ exposure: 'everything' })],
    ['its tools are asked for one by one', inputs({ activation: { tools: ['read_secret', 'rotate_key'] } })],
    ['their tag is asked for', inputs({ activation: { tags: ['io'] } })],
  ])('shows nothing while inactive, also when %s', (_, at) => {
    expect(shownIn(catalog, at)).toEqual([])
    expect(resolve(catalog, at, 'read_secret').kind).toBe('hidden')
  })

  test('shows its tools while active', () => {
    expect(shownIn(catalog, inputs({ activation: { groups: ['vault'] } }))).toEqual(['read_secret'])
    expect(shownIn(catalog, inputs({ activation: { groups: ['vault', 'keys'] } }))).toEqual(['read_secret', 'rotate_key'])
  })

  test('makes its child groups strict too', () => {
    expect(['vault', 'keys', 'files', 'nowhere'].map((name) => isStrict(groups, name))).toEqual([true, true, false, false])
  })
})

describe('predicates', () => {
  test('of one computation all get the same snapshot', () => {
    const seen: Snapshot[] = []
    const asking = (name: string): Entry =>
      entry(name, {
        visibility: when((snapshot) => {
          seen.push(snapshot)
          return true
        }),
      })
    const snapshot = snapshotOf(groups, nothingActive, { rows: 3 })
    unavailableEntries(catalogOf(asking('a'), asking('b'), asking('c')), snapshot, () => {})
    expect(seen).toHaveLength(3)
    expect(seen.every((one) => one === snapshot)).toBe(true)
  })

  test('get the facts and the active groups', () => {
    const snapshot = snapshotOf(groups, { ...nothingActive, groups: ['files', 'aws'] }, { rows: 3 })
    expectTypeOf(snapshot.facts).toEqualTypeOf<{ rows: number }>()
    expect(snapshot.facts.rows).toBe(3)
    expect(['files', 'cloud', 'aws', 'nowhere'].map((name) => snapshot.isActive(name))).toEqual([true, false, false, false])
  })

  test('that are false make their tools unavailable, those of grouped tools too', () => {
    const query = entry('query', { visibility: when(({ facts }) => facts.rows === 3) })
    const empty = entry('empty', { visibility: { group: 'files', when: (snapshot) => !snapshot.isActive('files') } })
    const catalog = catalogOf(query, empty, now)
    const activation: Activation = { ...nothingActive, groups: ['files'] }
    const unavailable = unavailableEntries(catalog, snapshotOf(groups, activation, { rows: 3 }), () => {})
    expect(unavailable).toEqual(new Set([empty]))
    expect(shownIn(catalog, inputs({ activation, unavailable }))).toEqual(['query', 'now'])
  })

  test('that throw hide their tools and are reported, and the others are still evaluated', () => {
    const broken = new Error('no database')
    const failing = entry('failing', {
      visibility: when(() => {
        throw broken
      }),
    })
    const fine = entry('fine', { visibility: when(() => true) })
    const reports: [string, unknown][] = []
    const catalog = catalogOf(failing, fine)
    const unavailable = unavailableEntries(catalog, snapshotOf(groups, nothingActive, {}), ({ tool }, error) =>
      reports.push([tool.name, error]),
    )
    expect(shownIn(catalog, inputs({ unavailable }))).toEqual(['fine'])
    expect(reports).toEqual([['failing', broken]])
  })

  test('that return anything but true count as false', () => {
    // A predicate written in JavaScript may be asynchronous; a promise does not count as true.
    const late = entry('late', { visibility: when((async () => true) as unknown as () => boolean) })
    expect(isAvailable(late, snapshotOf(groups, nothingActive, {}), () => {})).toBe(false)
  })

  test('are optional', () => {
    expect(isAvailable(now, snapshotOf(groups, nothingActive, {}), () => {})).toBe(true)
  })

  test('of a type unknown to the compiler are rejected', () => {
    // @ts-expect-error a predicate answers at once
    const visibility = when(async () => true)
    expect(visibility).toHaveProperty('when')
  })
})

describe('of several versions', () => {
  const versions = ['1', '2', '10', '3-beta'].map((version) => entry('deploy', { version }))
  const catalog = catalogOf(...versions)
  const versionIn = (at: ViewInputs): (string | undefined)[] => computeView(catalog, at).entries.map(({ version }) => version)

  test('the newest is shown', () => {
    expect(versionIn(inputs())).toEqual(['10'])
  })

  test('the one selected by an active group is shown', () => {
    expect(versionIn(inputs({ activation: { groups: ['stable'] } }))).toEqual(['1'])
  })

  test('if several groups select one, that of the most recently used group is shown', () => {
    expect(versionIn(inputs({ activation: { groups: ['stable', 'next'] } }))).toEqual(['3-beta'])
    expect(versionIn(inputs({ activation: { groups: ['next', 'stable'] } }))).toEqual(['1'])
  })

  test('the one pinned by the client is shown, whatever its groups select', () => {
    expect(versionIn(inputs({ activation: { groups: ['stable'], versions: { deploy: '2' } } }))).toEqual(['2'])
  })

  test('none is shown if the client pinned one that does not exist', () => {
    const at = inputs({ activation: { versions: { deploy: '7' } } })
    expect(versionIn(at)).toEqual([])
    expect(resolve(catalog, at, 'deploy')).toEqual({ kind: 'unknown' })
  })

  test('the newest that is permitted is shown', () => {
    expect(versionIn(inputs({ forbidden: new Set(versions.filter(({ version }) => version === '10')) }))).toEqual(['3-beta'])
  })

  test('a group that selects a missing one changes nothing', () => {
    const two = catalogOf(...versions.slice(1, 3))
    expect(computeView(two, inputs({ activation: { groups: ['stable'] } })).entries[0]?.version).toBe('10')
  })

  test('a call by name reaches the shown one', () => {
    const at = inputs({ activation: { groups: ['stable'] } })
    expect(resolve(catalog, at, 'deploy')).toEqual({ kind: 'shown', entry: versions[0] })
  })

  test('one is chosen among those whose groups are active', () => {
    const [old, young] = [
      entry('deploy', { version: '1', visibility: group('files') }),
      entry('deploy', { version: '2', visibility: group('cloud') }),
    ]
    const split = catalogOf(old, young)
    expect(computeView(split, inputs({ activation: { groups: ['files'] } })).entries).toEqual([old])
    expect(computeView(split, inputs({ activation: { groups: ['files', 'cloud'] } })).entries).toEqual([young])
    expect(resolve(split, inputs({ activation: { groups: ['files'], versions: { deploy: '2' } } }), 'deploy')).toEqual({
      kind: 'hidden',
      entry: young,
    })
  })

  test.each(['constructor', 'toString', '__proto__'])('a tool named %s has no pin by accident', (name) => {
    const odd = entry(name)
    expect(computeView(catalogOf(odd), inputs()).entries).toEqual([odd])
    const both = catalogOf(entry(name, { version: '1' }), entry(name, { version: '2' }))
    expect(computeView(both, inputs({ activation: { groups: ['stable'] } })).entries[0]?.version).toBe('2')
  })
})

describe('a name resolves to', () => {
  const renamed = entry('read_file', { visibility: group('files'), aliases: ['cat'] })
  const catalog = catalogOf(opener('files'), now, renamed)

  test('a shown tool', () => {
    expect(resolve(catalog, inputs(), 'now')).toEqual({ kind: 'shown', entry: now })
  })

  test('a hidden tool while its group is inactive', () => {
    expect(resolve(catalog, inputs(), 'read_file')).toEqual({ kind: 'hidden', entry: renamed })
    expect(resolve(catalog, inputs({ activation: { groups: ['files'] } }), 'read_file').kind).toBe('shown')
  })

  test('the same as the current name if it is an alias', () => {
    expect(resolve(catalog, inputs(), 'cat')).toEqual({ kind: 'hidden', entry: renamed })
    expect(resolve(catalog, inputs({ activation: { tools: ['read_file'] } }), 'cat')).toEqual({ kind: 'shown', entry: renamed })
  })

  test('a hidden activator if activators are not listed', () => {
    expect(resolve(catalog, inputs({ surfaces: new Set<Surface>() }), 'activate_files').kind).toBe('hidden')
  })

  test.each(['nowhere', '', '__proto__', 'constructor', 'x'.repeat(1_000_000)])('nothing if there is no such tool', (name) => {
    expect(resolve(catalog, inputs(), name)).toEqual({ kind: 'unknown' })
  })

  test('nothing if the tool is unavailable, by any of its names', () => {
    const at = inputs({ unavailable: new Set([renamed]), exposure: 'everything' })
    expect(['read_file', 'cat'].map((name) => resolve(catalog, at, name).kind)).toEqual(['unknown', 'unknown'])
  })

  test('nothing if the tool is forbidden, by any of its names', () => {
    const at = inputs({ forbidden: new Set([renamed]), exposure: 'everything' })
    expect(['read_file', 'cat'].map((name) => resolve(catalog, at, name).kind)).toEqual(['unknown', 'unknown'])
  })
})

describe('forbidden entries', () => {
  test('are not in the list, and the fingerprint is that of a list without them', () => {
    const at = inputs({ exposure: 'everything', forbidden: new Set([write]) })
    const without = catalogOf(opener('files'), opener('cloud'), opener('aws'), now, read, upload)
    expect(shownIn(hub, at)).not.toContain('write')
    expect(computeView(hub, at).fingerprint).toBe(computeView(without, inputs({ exposure: 'everything' })).fingerprint)
  })

  test('also hide the activator of a group without other tools', () => {
    const at = inputs({ forbidden: new Set([read, write]) })
    expect(shownIn(hub, at)).toEqual(['activate_cloud', 'activate_aws', 'now'])
    expect(resolve(hub, at, 'activate_files')).toEqual({ kind: 'unknown' })
  })

  test('also hide the activators of ancestors that have nothing else', () => {
    const at = inputs({ forbidden: new Set([upload]) })
    expect(shownIn(hub, at)).toEqual(['activate_files', 'now'])
    expect(resolve(hub, at, 'activate_cloud')).toEqual({ kind: 'unknown' })
  })

  test('do not hide the activator of a group with other permitted tools', () => {
    expect(shownIn(hub, inputs({ forbidden: new Set([write]) }))).toContain('activate_files')
  })

  test('do not hide the activator of a group whose permitted tools are unavailable', () => {
    expect(shownIn(hub, inputs({ forbidden: new Set([write]), unavailable: new Set([read]) }))).toContain('activate_files')
  })

  test('also hide a custom activator', () => {
    const catalog = catalogOf(entry('open_files', { activates: 'files' }), read)
    const at = inputs({ forbidden: new Set([read]) })
    expect(shownIn(catalog, at)).toEqual([])
    expect(resolve(catalog, at, 'open_files')).toEqual({ kind: 'unknown' })
  })

  test('can be activators', () => {
    const opens = opener('files')
    const catalog = catalogOf(opens, read)
    expect(shownIn(catalog, inputs({ forbidden: new Set([opens]) }))).toEqual([])
  })

  test('leave no trace in any list, fingerprint or name', () => {
    const graph: Groups = declareGroups({
      a: { description: 'A' },
      b: { description: 'B', parent: 'a', versions: { t0: '1' } },
      c: { description: 'C', strict: true },
    })
    const names = ['t0', 't1', 't2', 't3', 't4', 'old0', 'old1', 'activate_a', 'activate_b', 'activate_c']
    const given = fc.uniqueArray(
      fc.record({
        number: fc.nat(4),
        version: fc.constantFrom('1', '2'),
        group: fc.constantFrom(undefined, 'a', 'b', 'c'),
        tagged: fc.boolean(),
        forbidden: fc.boolean(),
      }),
      { minLength: 1, selector: ({ number, version }) => `${number}@${version}` },
    )
    const scopes: fc.Arbitrary<Partial<Activation>> = fc.record({
      groups: fc.subarray(['a', 'b', 'c']),
      tools: fc.subarray(['t1', 't2']),
      tags: fc.subarray(['io']),
      versions: fc.constantFrom({}, { t0: '1' }, { t1: '2' }),
    })
    fc.assert(
      fc.property(given, scopes, fc.constantFrom('groups', 'everything'), (picks, activation, exposure) => {
        const entries = picks.map((pick) => ({
          ...pick,
          made: entry(`t${pick.number}`, {
            version: pick.version,
            visibility: pick.group === undefined ? always : group(pick.group),
            tags: pick.tagged ? ['io'] : [],
            aliases: pick.number < 2 ? [`old${pick.number}`] : [],
          }),
        }))
        const permitted = entries.filter((one) => !one.forbidden)
        const opened = (name: string): boolean =>
          permitted.some((one) => one.group === name || (name === 'a' && one.group === 'b'))
        const isEmpty = (name: string): boolean =>
          !entries.some((one) => one.group === name || (name === 'a' && one.group === 'b'))
        // Groups that are empty for everyone are different: they may get tools later.
        const openers = ['a', 'b', 'c'].filter((name) => !isEmpty(name))
        const whole = buildCatalog(1, [...openers.map(opener), ...entries.map((one) => one.made)], graph)
        const rest = buildCatalog(1, [...openers.filter(opened).map(opener), ...permitted.map((one) => one.made)], graph)
        const forbidden = new Set(entries.filter((one) => one.forbidden).map((one) => one.made))
        const seen = inputs({ groups: graph, activation, exposure, forbidden })
        const free = inputs({ groups: graph, activation, exposure })
        expect(computeView(whole, seen)).toEqual(computeView(rest, free))
        for (const name of names) expect(resolve(whole, seen, name)).toEqual(resolve(rest, free, name))
      }),
      { numRuns: 500 },
    )
  })
})

describe('a read-only view', () => {
  const at = inputs({ readOnly: true, exposure: 'everything' })

  test('shows tools with readOnlyHint, and activators of groups that have one', () => {
    expect(shownIn(hub, at)).toEqual(['activate_files', 'read'])
  })

  test('resolves no other names', () => {
    expect(['read', 'write', 'now', 'activate_aws'].map((name) => resolve(hub, at, name).kind)).toEqual([
      'shown',
      'unknown',
      'unknown',
      'unknown',
    ])
  })

  test('does not show a destructive tool', () => {
    const drop = entry('drop', { annotations: { destructiveHint: true } })
    expect(shownIn(catalogOf(drop), at)).toEqual([])
  })
})

test('the activator of a group without tools yet is shown', () => {
  expect(shownIn(catalogOf(opener('files')), inputs())).toEqual(['activate_files'])
})

describe('the fingerprint of a view', () => {
  test('changes with the tools, with the definition of one, and with their order', () => {
    const changed = { ...read, tool: { ...read.tool, description: 'Read a file' } }
    const prints = [[read, write], [write, read], [read], [changed, write], []].map((entries) => viewFingerprint(entries))
    expect(new Set(prints).size).toBe(prints.length)
  })

  test('does not change with live counts', () => {
    const counted = { ...read, tool: { ...read.tool, _meta: { count: 3 } } }
    expect(viewFingerprint([counted, write])).toBe(viewFingerprint([read, write]))
  })

  test('is that of its entries', () => {
    const view = computeView(hub, inputs())
    expect(view.fingerprint).toBe(viewFingerprint(view.entries))
  })
})

describe('an append-only list', () => {
  test('keeps known entries in place and appends new ones in catalog order', () => {
    expect(namesOf(appended(['write', 'now'], [now, read, write, upload]))).toEqual(['write', 'now', 'read', 'upload'])
  })

  test('removes entries without leaving a gap', () => {
    expect(namesOf(appended(['write', 'read', 'now'], [now, write]))).toEqual(['write', 'now'])
  })

  test('is the list itself for a scope without an earlier list', () => {
    expect(appended([], [now, read])).toEqual([now, read])
  })

  test('starts with the previous list, whatever is activated next', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    fc.assert(
      fc.property(fc.subarray(names), fc.subarray(names), (before, more) => {
        const first = appended(
          [],
          before.map((name) => entry(name)),
        )
        const all = names.filter((name) => before.includes(name) || more.includes(name)).map((name) => entry(name))
        expect(namesOf(appended(namesOf(first), all)).slice(0, first.length)).toEqual(namesOf(first))
      }),
    )
  })
})

describe('a composite tool in a view', () => {
  const composite = (name: string, policy: ModePolicy): Entry => {
    const plain = entry(name)
    const modes = declareModes({
      tool: plain.tool,
      by: 'what',
      policy,
      modes: [
        { name: 'logs', description: 'Logs' },
        { name: 'network', description: 'Requests' },
      ],
    })
    return { ...plain, modes }
  }
  const [filtered, fixed] = [composite('filtered', 'filtered'), composite('fixed', 'static')]
  const catalog = catalogOf(now, filtered, fixed)
  const having = (set: string): ViewInputs =>
    inputs({
      modes: new Map([
        [filtered, set],
        [fixed, set],
      ]),
    })

  test('is shown while it has a mode, and a static one always', () => {
    expect(shownIn(catalog, having('01'))).toEqual(['now', 'filtered', 'fixed'])
    expect(shownIn(catalog, having('00'))).toEqual(['now', 'fixed'])
  })

  test('is shown without a mode to a client that does not re-list', () => {
    expect(shownIn(catalog, { ...having('00'), everyMode: true })).toEqual(['now', 'filtered', 'fixed'])
  })

  test('is listed if its modes were not evaluated', () => {
    expect(shownIn(catalog, inputs())).toEqual(['now', 'filtered', 'fixed'])
  })

  test('can be called although it is not shown, because data may have arrived', () => {
    expect(resolve(catalog, having('00'), 'filtered')).toEqual({ kind: 'shown', entry: filtered })
    expect(resolve(catalog, { ...having('00'), forbidden: new Set([filtered]) }, 'filtered')).toEqual({ kind: 'unknown' })
  })

  test('is shown in the newest version that has a mode', () => {
    const [one, two] = [
      { ...composite('look', 'filtered'), version: '1' },
      { ...composite('look', 'filtered'), version: '2' },
    ]
    const versions = catalogOf(one, two)
    const at = (sets: readonly [string, string]): readonly Entry[] =>
      computeView(versions, inputs({ modes: new Map([[one, sets[0]] as const, [two, sets[1]] as const]) })).entries
    expect(at(['11', '01'])).toEqual([two])
    expect(at(['11', '00'])).toEqual([one])
    expect(at(['00', '00'])).toEqual([])
  })
})

describe('a tool that requires another', () => {
  const observe = entry('observe', { after: false })
  const analyze = entry('analyze', { after: 'observe' })
  const upload2 = entry('upload', { after: 'observe', visibility: group('files'), tags: ['io'] })
  const catalog = catalogOf(opener('files'), observe, analyze, upload2)
  const waiting = inputs({ succeeded: new Set(), activation: { groups: ['files'] } })

  test('is not shown until the other one succeeded, even if its group is active', () => {
    expect(shownIn(catalog, waiting)).toEqual(['activate_files', 'observe'])
    expect(shownIn(catalog, { ...waiting, succeeded: new Set(['observe']) })).toEqual([
      'activate_files',
      'observe',
      'analyze',
      'upload',
    ])
  })

  test('is not shown by its tag or its name before', () => {
    const asked = inputs({ succeeded: new Set(), activation: { tags: ['io'], tools: ['analyze'] } })
    expect(shownIn(catalog, asked)).toEqual(['activate_files', 'observe'])
  })

  test('is hidden, not unknown, until then', () => {
    expect(resolve(catalog, waiting, 'analyze')).toEqual({ kind: 'hidden', entry: analyze })
    expect(awaitsPrerequisite(analyze, waiting)).toBe(true)
    expect(awaitsPrerequisite(observe, waiting)).toBe(false)
    expect(awaitsPrerequisite(now, waiting)).toBe(false)
  })

  test('is shown where a call cannot change the list, and where everything is listed', () => {
    expect(awaitsPrerequisite(analyze, { ...waiting, succeeded: undefined })).toBe(false)
    expect(awaitsPrerequisite(analyze, { ...waiting, exposure: 'everything' })).toBe(false)
    expect(shownIn(catalog, { ...waiting, succeeded: undefined })).toContain('analyze')
  })
})

test('predicates are evaluated by the function of the caller', () => {
  const conditional = entry('replay', { visibility: when(() => false) })
  const snapshot: Snapshot = { facts: {}, isActive: () => false }
  expect(
    isAvailable(
      conditional,
      snapshot,
      () => undefined,
      () => true,
    ),
  ).toBe(true)
  expect(
    unavailableEntries(
      catalogOf(conditional),
      snapshot,
      () => undefined,
      () => true,
    ).size,
  ).toBe(0)
})
