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

  test('shows the tools of an active group in the order of the catalog', () => {
    expect(shownIn(hub, inputs({ surfaces: new Set<Surface>(), activation: { groups: ['files'] } }))).toEqual([
      'now',
      'read',
      'write',
    ])
  })

  test('shows the tools of a child only while every ancestor is active', () => {
    expect(shownIn(hub, inputs({ surfaces: new Set<Surface>(), activation: { groups: ['aws'] } }))).toEqual(['now'])
    expect(shownIn(hub, inputs({ surfaces: new Set<Surface>(), activation: { groups: ['cloud', 'aws'] } }))).toEqual([
      'now',
      'upload',
    ])
  })

  test('shows a single tool of an inactive group when it was asked for', () => {
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

  test('shows no activator to a client that cannot follow', () => {
    const byHand = entry('open_files', { activates: 'files' })
    expect(shownIn(catalogOf(opener('files'), byHand, read), inputs({ surfaces: new Set<Surface>() }))).toEqual([])
  })

  test('never shows what cannot be used now', () => {
    const unavailable = new Set([read, now])
    expect(shownIn(hub, inputs({ surfaces: new Set<Surface>(), unavailable, exposure: 'everything' }))).toEqual([
      'write',
      'upload',
    ])
  })

  test('gives entries back with the type they came with', () => {
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

  test('makes the groups in it strict too', () => {
    expect(['vault', 'keys', 'files', 'nowhere'].map((name) => isStrict(groups, name))).toEqual([true, true, false, false])
  })
})

describe('predicates', () => {
  test('of one computation all read the same snapshot', () => {
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

  test('see the facts and which groups are active', () => {
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

  test('that throw hide their tools and are reported, and the others are still asked', () => {
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

  test('that answer anything but true count as false', () => {
    // A predicate written in JavaScript may well be asynchronous; a promise is no yes.
    const late = entry('late', { visibility: when((async () => true) as unknown as () => boolean) })
    expect(isAvailable(late, snapshotOf(groups, nothingActive, {}), () => {})).toBe(false)
  })

  test('are not needed for a tool to be available', () => {
    expect(isAvailable(now, snapshotOf(groups, nothingActive, {}), () => {})).toBe(true)
  })

  test('of a type the compiler does not know are refused', () => {
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

  test('the one that an active group brings is shown', () => {
    expect(versionIn(inputs({ activation: { groups: ['stable'] } }))).toEqual(['1'])
  })

  test('the one of the most recently used group is shown when several bring one', () => {
    expect(versionIn(inputs({ activation: { groups: ['stable', 'next'] } }))).toEqual(['3-beta'])
    expect(versionIn(inputs({ activation: { groups: ['next', 'stable'] } }))).toEqual(['1'])
  })

  test('the one the client pinned is shown, whatever its groups bring', () => {
    expect(versionIn(inputs({ activation: { groups: ['stable'], versions: { deploy: '2' } } }))).toEqual(['2'])
  })

  test('none is shown when the client pinned one that does not exist', () => {
    const at = inputs({ activation: { versions: { deploy: '7' } } })
    expect(versionIn(at)).toEqual([])
    expect(resolve(catalog, at, 'deploy')).toEqual({ kind: 'unknown' })
  })

  test('the newest that is permitted is shown', () => {
    expect(versionIn(inputs({ forbidden: new Set(versions.filter(({ version }) => version === '10')) }))).toEqual(['3-beta'])
  })

  test('a group that brings one that is not there changes nothing', () => {
    const two = catalogOf(...versions.slice(1, 3))
    expect(computeView(two, inputs({ activation: { groups: ['stable'] } })).entries[0]?.version).toBe('10')
  })

  test('a call by name reaches the one that is shown', () => {
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

  test.each(['constructor', 'toString', '__proto__'])('no pin is imagined for a tool called %s', (name) => {
    const odd = entry(name)
    expect(computeView(catalogOf(odd), inputs()).entries).toEqual([odd])
    const both = catalogOf(entry(name, { version: '1' }), entry(name, { version: '2' }))
    expect(computeView(both, inputs({ activation: { groups: ['stable'] } })).entries[0]?.version).toBe('2')
  })
})

describe('a name means', () => {
  const renamed = entry('read_file', { visibility: group('files'), aliases: ['cat'] })
  const catalog = catalogOf(opener('files'), now, renamed)

  test('a tool that is shown', () => {
    expect(resolve(catalog, inputs(), 'now')).toEqual({ kind: 'shown', entry: now })
  })

  test('a tool that is hidden while its group is inactive', () => {
    expect(resolve(catalog, inputs(), 'read_file')).toEqual({ kind: 'hidden', entry: renamed })
    expect(resolve(catalog, inputs({ activation: { groups: ['files'] } }), 'read_file').kind).toBe('shown')
  })

  test('the same as the new name when it is a former one', () => {
    expect(resolve(catalog, inputs(), 'cat')).toEqual({ kind: 'hidden', entry: renamed })
    expect(resolve(catalog, inputs({ activation: { tools: ['read_file'] } }), 'cat')).toEqual({ kind: 'shown', entry: renamed })
  })

  test('a hidden activator where activators are not listed', () => {
    expect(resolve(catalog, inputs({ surfaces: new Set<Surface>() }), 'activate_files').kind).toBe('hidden')
  })

  test.each(['nowhere', '', '__proto__', 'constructor', 'x'.repeat(1_000_000)])('nothing when no tool is called so', (name) => {
    expect(resolve(catalog, inputs(), name)).toEqual({ kind: 'unknown' })
  })

  test('nothing when the tool cannot be used now, by whatever name', () => {
    const at = inputs({ unavailable: new Set([renamed]), exposure: 'everything' })
    expect(['read_file', 'cat'].map((name) => resolve(catalog, at, name).kind)).toEqual(['unknown', 'unknown'])
  })

  test('nothing when the tool is forbidden, by whatever name', () => {
    const at = inputs({ forbidden: new Set([renamed]), exposure: 'everything' })
    expect(['read_file', 'cat'].map((name) => resolve(catalog, at, name).kind)).toEqual(['unknown', 'unknown'])
  })
})

describe('forbidden entries', () => {
  test('is not in the list, and the fingerprint is that of a list without it', () => {
    const at = inputs({ exposure: 'everything', forbidden: new Set([write]) })
    const without = catalogOf(opener('files'), opener('cloud'), opener('aws'), now, read, upload)
    expect(shownIn(hub, at)).not.toContain('write')
    expect(computeView(hub, at).fingerprint).toBe(computeView(without, inputs({ exposure: 'everything' })).fingerprint)
  })

  test('also hides the activator of a group without other tools', () => {
    const at = inputs({ forbidden: new Set([read, write]) })
    expect(shownIn(hub, at)).toEqual(['activate_cloud', 'activate_aws', 'now'])
    expect(resolve(hub, at, 'activate_files')).toEqual({ kind: 'unknown' })
  })

  test('takes the activators of the groups around along when nothing is in these either', () => {
    const at = inputs({ forbidden: new Set([upload]) })
    expect(shownIn(hub, at)).toEqual(['activate_files', 'now'])
    expect(resolve(hub, at, 'activate_cloud')).toEqual({ kind: 'unknown' })
  })

  test('leaves the activator of a group where something is permitted', () => {
    expect(shownIn(hub, inputs({ forbidden: new Set([write]) }))).toContain('activate_files')
  })

  test('leaves the activator of a group where something is permitted but cannot be used now', () => {
    expect(shownIn(hub, inputs({ forbidden: new Set([write]), unavailable: new Set([read]) }))).toContain('activate_files')
  })

  test('takes an activator written by hand along too', () => {
    const catalog = catalogOf(entry('open_files', { activates: 'files' }), read)
    const at = inputs({ forbidden: new Set([read]) })
    expect(shownIn(catalog, at)).toEqual([])
    expect(resolve(catalog, at, 'open_files')).toEqual({ kind: 'unknown' })
  })

  test('may be an activator itself', () => {
    const opens = opener('files')
    const catalog = catalogOf(opens, read)
    expect(shownIn(catalog, inputs({ forbidden: new Set([opens]) }))).toEqual([])
  })

  test('leaves no trace in any list, fingerprint or name', () => {
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
        // Groups that are empty for everyone are another matter: they may be waiting for tools.
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

describe('a look at what only reads', () => {
  const at = inputs({ readOnly: true, exposure: 'everything' })

  test('shows tools that say they change nothing, and activators that open one', () => {
    expect(shownIn(hub, at)).toEqual(['activate_files', 'read'])
  })

  test('knows no others by name', () => {
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

test('an activator of a group that waits for its tools is shown', () => {
  expect(shownIn(catalogOf(opener('files')), inputs())).toEqual(['activate_files'])
})

describe('the fingerprint of a view', () => {
  test('changes with the tools, with one of them, and with their order', () => {
    const changed = { ...read, tool: { ...read.tool, description: 'Read a file' } }
    const prints = [[read, write], [write, read], [read], [changed, write], []].map((entries) => viewFingerprint(entries))
    expect(new Set(prints).size).toBe(prints.length)
  })

  test('does not change with live counts', () => {
    const counted = { ...read, tool: { ...read.tool, _meta: { count: 3 } } }
    expect(viewFingerprint([counted, write])).toBe(viewFingerprint([read, write]))
  })

  test('is that of the entries in it', () => {
    const view = computeView(hub, inputs())
    expect(view.fingerprint).toBe(viewFingerprint(view.entries))
  })
})

describe('a list that only ever appends', () => {
  test('keeps known entries in place and appends new ones in catalog order', () => {
    expect(namesOf(appended(['write', 'now'], [now, read, write, upload]))).toEqual(['write', 'now', 'read', 'upload'])
  })

  test('closes the gap where something went', () => {
    expect(namesOf(appended(['write', 'read', 'now'], [now, write]))).toEqual(['write', 'now'])
  })

  test('is the list itself for a scope that knew nothing', () => {
    expect(appended([], [now, read])).toEqual([now, read])
  })

  test('begins with the list before, whatever is activated next', () => {
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

  test('is shown without a mode to a client that does not read the list again', () => {
    expect(shownIn(catalog, { ...having('00'), everyMode: true })).toEqual(['now', 'filtered', 'fixed'])
  })

  test('is listed if its modes were not evaluated', () => {
    expect(shownIn(catalog, inputs())).toEqual(['now', 'filtered', 'fixed'])
  })

  test('can be called although it is not shown, since data may have arrived', () => {
    expect(resolve(catalog, having('00'), 'filtered')).toEqual({ kind: 'shown', entry: filtered })
    expect(resolve(catalog, { ...having('00'), forbidden: new Set([filtered]) }, 'filtered')).toEqual({ kind: 'unknown' })
  })

  test('of several versions the newest that has a mode is shown', () => {
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

describe('a tool that waits for another', () => {
  const observe = entry('observe', { after: false })
  const analyze = entry('analyze', { after: 'observe' })
  const upload2 = entry('upload', { after: 'observe', visibility: group('files'), tags: ['io'] })
  const catalog = catalogOf(opener('files'), observe, analyze, upload2)
  const waiting = inputs({ succeeded: new Set(), activation: { groups: ['files'] } })

  test('is not shown until that one succeeded, though its group is open', () => {
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

  test('is hidden, and not unknown, while it waits', () => {
    expect(resolve(catalog, waiting, 'analyze')).toEqual({ kind: 'hidden', entry: analyze })
    expect(awaitsPrerequisite(analyze, waiting)).toBe(true)
    expect(awaitsPrerequisite(observe, waiting)).toBe(false)
    expect(awaitsPrerequisite(now, waiting)).toBe(false)
  })

  test('waits for nothing where a call cannot change the list, and where all is shown at once', () => {
    expect(awaitsPrerequisite(analyze, { ...waiting, succeeded: undefined })).toBe(false)
    expect(awaitsPrerequisite(analyze, { ...waiting, exposure: 'everything' })).toBe(false)
    expect(shownIn(catalog, { ...waiting, succeeded: undefined })).toContain('analyze')
  })
})

test('predicates are asked as the caller wants them asked', () => {
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
