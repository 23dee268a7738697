import {
  type Activation,
  ancestorsOf,
  appended,
  availableModes,
  type Catalog,
  computeView,
  type Entry,
  type Evaluate,
  type Exposure,
  type FactSource,
  type Facts,
  facetOf,
  type Groups,
  isActive,
  isStrict,
  listsEverything,
  type ModeSet,
  memoizedEvaluate,
  type Snapshot,
  type Surface,
  snapshotOf,
  unavailableEntries,
  type ViewInputs,
} from '@unfold-mcp/core'
import { forReader, groupNames, isUndescribed, type Reader, surfaceSource } from '../catalog/activators.ts'
import type { CatalogState } from '../catalog/catalog-state.ts'
import { namingGroups } from '../catalog/discovery-tools.ts'
import type { Permissions } from '../catalog/permissions.ts'
import type { ExposurePreference, Scope } from '../scope/scope.ts'
import type { ToolEntry } from '../tool/entry.ts'
import { withHints } from '../tool/host-hints.ts'
import type { Reporter } from '../tool/report.ts'
import { advised, type RenderedView, renderView, withCounts } from './rendered-view.ts'
import { RenderedViewCache } from './rendered-view-cache.ts'

interface Options {
  readonly catalogOf: (scope: Scope) => CatalogState
  readonly facts: (() => Facts) | FactSource | undefined
  readonly permissions: Permissions
  readonly report: Reporter
}

const noEntries: ReadonlySet<ToolEntry> = new Set()
const noSurfaces: ReadonlySet<Surface> = new Set()
const noModes: ReadonlyMap<ToolEntry, ModeSet> = new Map()
const noFacts: Facts = Object.freeze({})

type Availability = Pick<ViewInputs<ToolEntry>, 'unavailable' | 'modes'>
const allAvailable: Availability = { unavailable: noEntries, modes: noModes }

/** View inputs, and the snapshot that predicates read at the same moment. */
interface InputsWithSnapshot {
  readonly inputs: ViewInputs<ToolEntry>
  readonly snapshot: Snapshot
}

/** The last inputs of a scope, and everything they depended on. */
interface KnownInputs {
  readonly catalogState: CatalogState
  readonly activation: Activation
  readonly version: unknown
  readonly succeeded: ReadonlySet<string>
  readonly relists: Scope['relists']
  readonly result: InputsWithSnapshot
}

/** The chosen exposure, and why. */
export interface Decision {
  readonly exposure: Exposure
  readonly reason: string
  /** Cost of the full list, where it was measured. */
  readonly tokens?: number
}

/**
 * The generated tools that an exposure lists. A client that does not see new tools in time also gets `call_tool`, and one that
 * never lists again gets `search_tools` for tools that are added later.
 */
function surfacesFor({ groups }: CatalogState, scope: Scope, exposure: Exposure): ReadonlySet<Surface> {
  const { settings, missesChanges } = scope
  const { callVariants } = settings.exposureSettings
  const withCall = callVariants ? 'withVariants' : 'withCall'
  if (exposure === 'search' || (listsEverything(exposure) && needsFinder(scope, exposure))) return surfaceSets.search[withCall]
  if (!settings.canActivate || listsEverything(exposure)) return noSurfaces
  const finds = surfaceSets[exposure === 'lazy' ? 'manage' : 'activators']
  const hidesTools = exposure !== 'groups' || groups.byName.size > 0
  return missesChanges && hidesTools ? finds[withCall] : finds.alone
}

/** Whether tools that are added later could not be reached otherwise. */
function needsFinder({ settings, relists }: Scope, exposure: Exposure): boolean {
  return relists === 'never' && (exposure === 'native' || settings.preference === 'auto')
}

const surfaceSets = { search: setsWith('search'), manage: setsWith('manage'), activators: setsWith('activators') }

// Always the same objects, because views are cached by them.
function setsWith(surface: Surface): { readonly [K in 'alone' | 'withCall' | 'withVariants']: ReadonlySet<Surface> } {
  return {
    alone: new Set([surface]),
    withCall: new Set([surface, 'call']),
    withVariants: new Set([surface, 'call-variants']),
  }
}

/** Computes what each scope sees. Scopes with equal inputs share one view. */
export class Views {
  readonly #options: Options
  readonly #caches = new WeakMap<CatalogState, RenderedViewCache>()
  readonly #activationKeys = new WeakMap<Activation, string>()
  readonly #factSource: FactSource | undefined
  #evaluate: Evaluate | undefined
  readonly #knownInputs = new WeakMap<Scope, KnownInputs>()
  readonly #viewsByInputs = new WeakMap<ViewInputs<ToolEntry>, RenderedView>()

  constructor(options: Options) {
    this.#options = options
    this.#factSource = typeof options.facts === 'object' ? options.facts : undefined
    this.reevaluate()
  }

  /** Forgets results of predicates, which may depend on more than facts. */
  reevaluate(): void {
    this.#evaluate = this.#factSource === undefined ? undefined : memoizedEvaluate(this.#factSource)
  }

  /** The current view, with amounts of data. */
  withCounts(scope: Scope): RenderedView {
    const { inputs, snapshot } = this.#inputsWithSnapshot(scope)
    const view = this.#renderedFor(scope, inputs)
    return scope.settings.counts && view.isCounted ? withCounts(view, inputs.modes, snapshot) : view
  }

  /** The current view. */
  rendered(scope: Scope): RenderedView {
    return this.#renderedFor(scope, this.inputs(scope))
  }

  /** Everything that decides what this scope sees, read at one moment. */
  inputs(scope: Scope): ViewInputs<ToolEntry> {
    return this.#inputsWithSnapshot(scope).inputs
  }

  #renderedFor(scope: Scope, inputs: ViewInputs<ToolEntry>): RenderedView {
    const view = this.#cached(this.#options.catalogOf(scope), inputs)
    if (scope.settings.exposureSettings.order !== 'append' || scope.settings.era === 'stateless') return view
    return this.#inOrderOf(scope, view)
  }

  #inputsWithSnapshot(scope: Scope): InputsWithSnapshot {
    const catalogState = this.#options.catalogOf(scope)
    if (!this.#isSteady(catalogState)) return this.#computedInputs(scope, catalogState)
    const { version } = this.#options.permissions
    const { succeeded, relists, state } = scope
    const known = this.#knownInputs.get(scope)
    const isSame =
      known !== undefined &&
      known.catalogState === catalogState &&
      known.activation === state.activation &&
      known.version === version &&
      known.succeeded === succeeded &&
      known.relists === relists
    if (isSame) return known.result
    const result = this.#computedInputs(scope, catalogState)
    this.#knownInputs.set(scope, { catalogState, activation: state.activation, version, succeeded, relists, result })
    return result
  }

  /** Whether the inputs depend only on values whose changes are detected. */
  #isSteady({ catalog }: CatalogState): boolean {
    const { permissions, facts } = this.#options
    return facts === undefined && permissions.isVersioned && catalog.conditional.length + catalog.composite.length === 0
  }

  #computedInputs(scope: Scope, catalogState: CatalogState): InputsWithSnapshot {
    const facts = this.facts()
    const snapshot = snapshotIn(scope.settings.preference, catalogState, scope.state.activation, facts)
    const full = this.#fullInputs(scope, snapshot)
    const { exposure } = this.#decide(catalogState, scope, full)
    const hints = this.#hints(catalogState, scope, { ...full, exposure })
    const surfaces = surfacesFor(catalogState, scope, exposure)
    const inputs = { ...full, exposure, hints, surfaces, activatorsAreTools: !surfaces.has('activators') }
    return {
      inputs: inputs.forbidden.size === 0 && !inputs.readOnly ? inputs : withoutIdleDeactivator(catalogState, inputs),
      snapshot,
    }
  }

  #hints(catalogState: CatalogState, { settings }: Scope, inputs: ViewInputs<ToolEntry>): ViewInputs['hints'] {
    const { hostHints, budgetTokens } = settings.exposureSettings
    if (!(hostHints ?? inputs.exposure === 'native')) return 'none'
    // Searching for a tool that fits into the budget would only cost a turn.
    return inputs.exposure === 'native' && this.#fullTokens(catalogState, inputs) <= budgetTokens ? 'load' : 'search'
  }

  #fullTokens(catalogState: CatalogState, inputs: ViewInputs<ToolEntry>): number {
    return this.#cached(catalogState, { ...inputs, exposure: 'everything', surfaces: noSurfaces, hints: 'none' }).tokens
  }

  /** The inputs for showing everything. */
  #fullInputs(scope: Scope, snapshot: Snapshot): ViewInputs<ToolEntry> {
    const catalogState = this.#options.catalogOf(scope)
    const { missesChanges, settings } = scope
    const { principal, readOnly, era } = settings
    const { activation } = scope.state
    const { unavailable, modes } = this.#availability(catalogState, snapshot)
    const forbidden = this.#options.permissions.forbidden(catalogState.catalog, principal)
    // A client that lists again too late would miss tools that a call or new data adds.
    const canWait = era === 'session' && !missesChanges
    const succeeded = canWait ? notAwaited(catalogState.catalog, scope.succeeded, { forbidden, readOnly }) : undefined
    const { groups } = catalogState
    const activatorsAreTools = !scope.settings.canActivate
    const shape = { exposure: 'everything', surfaces: noSurfaces, hints: 'none', activatorsAreTools, readOnly } as const
    return { groups, activation, ...shape, unavailable, modes, everyMode: missesChanges, forbidden, succeeded }
  }

  #availability({ catalog }: CatalogState, snapshot: Snapshot): Availability {
    if (catalog.conditional.length + catalog.composite.length === 0) return allAvailable
    const failed = (entry: Entry, error: unknown): void => this.#predicateFailed(entry, error)
    // Without facts, the results of predicates must not be cached.
    const evaluate = snapshot.facts === noFacts ? undefined : this.#evaluate
    return {
      unavailable: catalog.conditional.length === 0 ? noEntries : unavailableEntries(catalog, snapshot, failed, evaluate),
      modes: this.#modes(catalog.composite, snapshot, evaluate),
    }
  }

  #modes(composite: readonly ToolEntry[], snapshot: Snapshot, evaluate: Evaluate | undefined): ReadonlyMap<ToolEntry, ModeSet> {
    if (composite.length === 0) return noModes
    const found = new Map<ToolEntry, ModeSet>()
    for (const entry of composite) {
      if (entry.modes === undefined) continue
      const failed = (_: unknown, error: unknown): void => this.#predicateFailed(entry, error)
      found.set(entry, availableModes(entry.modes, snapshot, failed, evaluate))
    }
    return found
  }

  /** The current view without generated tools. */
  visible(scope: Scope): RenderedView {
    return this.#cached(this.#options.catalogOf(scope), { ...this.inputs(scope), surfaces: noSurfaces })
  }

  /** All permitted and available tools, listed or not. */
  permitted(scope: Scope): RenderedView {
    const catalogState = this.#options.catalogOf(scope)
    const inputs = this.inputs(scope)
    const activation = scope.settings.canActivate ? this.#opened(catalogState, inputs.activation) : inputs.activation
    return this.#cached(catalogState, { ...inputs, activation, exposure: 'everything', surfaces: noSurfaces, hints: 'none' })
  }

  /** Adds all groups that must be active before their tools can run. */
  #opened({ groups }: CatalogState, activation: Activation): Activation {
    const strict = [...groups.byName.keys()].filter((name) => isStrict(groups, name))
    if (strict.every((name) => activation.groups.includes(name))) return activation
    const needed = strict.flatMap((name) => [...ancestorsOf(groups, name), name])
    return { ...activation, groups: [...new Set([...needed, ...activation.groups])] }
  }

  decision(scope: Scope): Decision {
    const catalogState = this.#options.catalogOf(scope)
    const snapshot = snapshotIn(scope.settings.preference, catalogState, scope.state.activation, this.facts())
    return this.#decide(catalogState, scope, this.#fullInputs(scope, snapshot))
  }

  #decide(catalogState: CatalogState, { settings }: Scope, inputs: ViewInputs<ToolEntry>): Decision {
    const { preference, canActivate, host } = settings
    if (preference === 'native' && host?.profile.defers === 'always')
      return { exposure: preference, reason: `${host.profile.title} defers tools itself` }
    if (preference !== 'auto' && preference !== 'measured') {
      const exposure = preference === 'lazy' && !canActivate ? 'search' : preference
      const fixed = 'a call cannot change the list in this protocol revision'
      return { exposure, reason: exposure === preference ? `"${preference}" was requested or declared` : fixed }
    }
    if (preference === 'measured' && catalogState.groups.byName.size === 0)
      return { exposure: 'everything', reason: 'the server declares no groups' }
    const { budgetTokens } = settings.exposureSettings
    const tokens = this.#fullTokens(catalogState, inputs)
    const measure = `the full list costs about ${tokens} tokens and the budget is ${budgetTokens}`
    return { exposure: tokens <= budgetTokens ? 'everything' : 'search', reason: measure, tokens }
  }

  /** What predicates read. Where all groups are shown, groups without hooks count as active. */
  snapshot(scope: Scope): Snapshot {
    return snapshotIn(scope.settings.preference, this.#options.catalogOf(scope), scope.state.activation, this.facts())
  }

  /** The current facts. */
  facts(): Facts {
    try {
      const { facts } = this.#options
      return (typeof facts === 'function' ? facts() : facts?.read()) ?? {}
    } catch (error) {
      this.#options.report({ reason: 'predicate_failed', message: 'facts() threw; predicates see no facts.', error })
      return noFacts
    }
  }

  #cached(catalogState: CatalogState, inputs: ViewInputs<ToolEntry>): RenderedView {
    const known = this.#viewsByInputs.get(inputs)
    if (known !== undefined) return known
    const made = this.#cachedByKey(catalogState, inputs)
    this.#viewsByInputs.set(inputs, made)
    return made
  }

  #cachedByKey(catalogState: CatalogState, inputs: ViewInputs<ToolEntry>): RenderedView {
    const cache = this.#cacheOf(catalogState)
    const key = this.#keyOf(catalogState, inputs)
    const found = cache.get(key)
    if (found !== undefined) return found
    const made = render(catalogState, inputs)
    cache.set(key, made)
    return made
  }

  #cacheOf(catalogState: CatalogState): RenderedViewCache {
    const found = this.#caches.get(catalogState)
    if (found !== undefined) return found
    const made = new RenderedViewCache()
    this.#caches.set(catalogState, made)
    return made
  }

  #keyOf({ catalog, groups }: CatalogState, inputs: ViewInputs<ToolEntry>): string {
    const bits = (set: ReadonlySet<ToolEntry>, among: readonly ToolEntry[]): string =>
      set.size === 0 ? '' : among.map((entry) => (set.has(entry) ? '1' : '0')).join('')
    const { exposure, surfaces, hints, readOnly } = inputs
    const done = inputs.succeeded === undefined ? '*' : [...inputs.succeeded].join()
    const modes = inputs.everyMode ? '*' : [...inputs.modes.values()].join('.')
    const marks = `${readOnly ? 'r' : ''}${hints}${inputs.activatorsAreTools === true ? 'a' : ''}`
    const flags = `${exposure} ${[...surfaces].join()} ${marks} ${done} ${modes}`
    return `${flags}|${bits(inputs.unavailable, catalog.conditional)}|${bits(inputs.forbidden, catalog.entries)}|${this.#activationKey(groups, inputs.activation)}`
  }

  // The order of groups matters only for choosing between versions, so scopes with the same groups share a view.
  #activationKey({ byName }: Groups, activation: Activation): string {
    const found = this.#activationKeys.get(activation)
    if (found !== undefined) return found
    const { groups, tools, tags, versions } = activation
    const ordered = groups.some((name) => Object.keys(byName.get(name)?.versions ?? {}).length > 0) ? groups : groups.toSorted()
    const made = JSON.stringify([ordered, tools, tags, versions])
    this.#activationKeys.set(activation, made)
    return made
  }

  #predicateFailed(entry: Entry, error: unknown): void {
    this.#options.report({
      reason: 'predicate_failed',
      message: `A predicate of tool "${entry.tool.name}" threw; what it decides is hidden.`,
      error,
    })
  }

  #inOrderOf(scope: Scope, view: RenderedView): RenderedView {
    const entries = appended(scope.order, view.entries)
    scope.order = entries.map((entry) => entry.tool.name)
    return entries.every((entry, index) => entry === view.entries[index]) ? view : renderView(entries)
  }
}

function snapshotIn(preference: ExposurePreference, { groups }: CatalogState, activation: Activation, facts: Facts): Snapshot {
  if (preference === 'groups') return snapshotOf(groups, activation, facts)
  return {
    facts,
    isActive: (name) => isActive(groups, activation, name) || (groups.byName.has(name) && !isStrict(groups, name)),
  }
}

/** The generated `deactivate` would reveal to a client without groups that there are groups. */
function withoutIdleDeactivator(catalogState: CatalogState, inputs: ViewInputs<ToolEntry>): ViewInputs<ToolEntry> {
  const deactivator = catalogState.catalog.byName.get('deactivate')?.find((entry) => entry.source === surfaceSource)
  if (deactivator === undefined || readerOf(catalogState, inputs).groups.size > 0) return inputs
  return { ...inputs, forbidden: new Set([...inputs.forbidden, deactivator]) }
}

function render(catalogState: CatalogState, inputs: ViewInputs<ToolEntry>): RenderedView {
  const surface = surfaceFor(catalogState, inputs)
  return renderView(
    computeView(catalogState.catalog, inputs).entries.map((entry) => surface.get(entry) ?? rendered(entry, inputs)),
  )
}

/** Renders an entry: its available modes, advice on what to call first, and hints for hosts. */
function rendered(entry: ToolEntry, inputs: ViewInputs<ToolEntry>): ToolEntry {
  const available = inputs.modes.get(entry)
  const modes = inputs.everyMode ? entry.modes?.asStatic : entry.modes
  const tool = available === undefined ? entry.tool : (modes?.toolWith(entry.tool, available) ?? entry.tool)
  const empty = modes !== entry.modes && entry.modes?.all.some((mode) => mode.available !== undefined)
  const whole = empty === true ? advised(tool, emptyModes) : tool
  const first =
    typeof entry.after === 'string' && inputs.succeeded === undefined ? advised(whole, `Call ${entry.after} first.`) : whole
  const hinted = inputs.hints === 'none' ? first : withHints(entry, first, inputs.hints)
  if (hinted === entry.tool && modes === entry.modes) return entry
  return { ...entry, tool: hinted, ...(modes !== undefined && { modes }), declared: entry }
}

/** Added to tools that list modes which may be empty. It does not name them, because this list is read only once. */
const emptyModes = 'A mode without data replies with how to get some.'

/** Tools that need not be waited for: those that succeeded, and those that do not exist for this client. */
function notAwaited(
  { awaited, byName }: Catalog<ToolEntry>,
  succeeded: ReadonlySet<string>,
  { forbidden, readOnly }: Pick<ViewInputs<ToolEntry>, 'forbidden' | 'readOnly'>,
): ReadonlySet<string> {
  const exists = (entry: ToolEntry): boolean => !forbidden.has(entry) && (!readOnly || facetOf(entry.tool) === 'read-only')
  const missing = [...awaited].filter((name) => byName.get(name)?.some(exists) !== true)
  return missing.length === 0 ? succeeded : new Set([...succeeded, ...missing])
}

const sharedSurfaces = new WeakMap<CatalogState, ReadonlyMap<ToolEntry, ToolEntry>>()

/** The generated tools, described for this client. */
function surfaceFor(catalogState: CatalogState, inputs: ViewInputs<ToolEntry>): ReadonlyMap<ToolEntry, ToolEntry> {
  // Descriptions are the same for all clients without restrictions, so they are built and encoded once.
  const isWhole = inputs.forbidden.size === 0 && !inputs.readOnly
  const found = isWhole ? sharedSurfaces.get(catalogState) : undefined
  if (found !== undefined) return found
  const reader = readerOf(catalogState, inputs)
  const entries = catalogState.catalog.entries.filter((entry) => entry.source === surfaceSource || isUndescribed(entry))
  const made = new Map(entries.map((entry) => [entry, namingGroups(forReader(entry, catalogState.surface, reader), reader)]))
  if (isWhole) sharedSurfaces.set(catalogState, made)
  return made
}

/** The groups and tools that a client with these inputs may know of. Conditional tools are not mentioned. */
export function readerOf({ catalog, groups }: CatalogState, inputs: ViewInputs<ToolEntry>): Reader {
  const exists = (entry: ToolEntry): boolean =>
    !inputs.forbidden.has(entry) && (!inputs.readOnly || facetOf(entry.tool) === 'read-only')
  const existing = (group: string): readonly ToolEntry[] => (catalog.byGroup.get(group) ?? []).filter(exists)
  const worthKnowing = (group: string): boolean =>
    (inputs.forbidden.size === 0 && !inputs.readOnly) ||
    existing(group).length > 0 ||
    (groups.children.get(group) ?? []).some(worthKnowing)
  return {
    groups: new Set(groupNames(groups).filter(worthKnowing)),
    toolsOf: (group) => [
      ...new Set(
        existing(group)
          .filter((entry) => !comesAndGoes(entry))
          .map((entry) => entry.tool.name),
      ),
    ],
  }
}

/** Whether the tool is conditional: it has a predicate, or only modes that have one. */
function comesAndGoes({ visibility, modes }: ToolEntry): boolean {
  if (visibility.when !== undefined) return true
  return modes?.policy === 'filtered' && modes.all.every(({ available }) => available !== undefined)
}
