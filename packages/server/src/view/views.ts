import {
  type Activation,
  ancestorsOf,
  appended,
  availableModes,
  type Catalog,
  type Entry,
  type Evaluate,
  type Exposure,
  type FactSource,
  type Facts,
  facetOf,
  type Groups,
  isActive,
  isStrict,
  type Look,
  listsEverything,
  type ModeSet,
  rememberingEvaluate,
  type Snapshot,
  type Surface,
  snapshotOf,
  unavailableEntries,
  viewOf,
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

/** What there is to use at one moment. */
type Availability = Pick<Look<ToolEntry>, 'unavailable' | 'modes'>
const allAvailable: Availability = { unavailable: noEntries, modes: noModes }

/** A look, with what predicates read at the same moment. */
interface Seen {
  readonly look: Look<ToolEntry>
  readonly snapshot: Snapshot
}

/** What a scope last saw, and all that this depended on. */
interface KnownLook {
  readonly catalogState: CatalogState
  readonly activation: Activation
  readonly version: unknown
  readonly succeeded: ReadonlySet<string>
  readonly relists: Scope['relists']
  readonly seen: Seen
}

/** How a scope is shown, and why. */
export interface Decision {
  readonly exposure: Exposure
  readonly reason: string
  /** What the whole list costs, where that was measured. */
  readonly tokens?: number
}

/**
 * The surfaces that an exposure lists. A client that does not see new tools in time also gets what calls those it cannot see, and
 * one that never lists again gets what finds tools that are added later.
 */
function surfacesOf({ groups }: CatalogState, scope: Scope, exposure: Exposure): ReadonlySet<Surface> {
  const { settings, missesChanges } = scope
  const { callVariants } = settings.exposureSettings
  const withCall = callVariants ? 'withVariants' : 'withCall'
  if (exposure === 'search' || (listsEverything(exposure) && needsFinder(scope, exposure))) return surfaceSets.search[withCall]
  if (!settings.canActivate || listsEverything(exposure)) return noSurfaces
  const finds = surfaceSets[exposure === 'lazy' ? 'manage' : 'activators']
  const hidesTools = exposure !== 'groups' || groups.byName.size > 0
  return missesChanges && hidesTools ? finds[withCall] : finds.alone
}

/** Whether tools that are added later could not be reached otherwise, where nobody asked for a list of all tools and nothing else. */
function needsFinder({ settings, relists }: Scope, exposure: Exposure): boolean {
  return relists === 'never' && (exposure === 'native' || settings.preference === 'auto')
}

const surfaceSets = { search: setsWith('search'), manage: setsWith('manage'), activators: setsWith('activators') }

// The same object every time, because what is shown is cached by it.
function setsWith(surface: Surface): { readonly [K in 'alone' | 'withCall' | 'withVariants']: ReadonlySet<Surface> } {
  return {
    alone: new Set([surface]),
    withCall: new Set([surface, 'call']),
    withVariants: new Set([surface, 'call-variants']),
  }
}

/** What each scope sees. Scopes that look alike share one view, computed once for as long as nothing it reads changes. */
export class Views {
  readonly #options: Options
  readonly #caches = new WeakMap<CatalogState, RenderedViewCache>()
  readonly #activationKeys = new WeakMap<Activation, string>()
  readonly #factSource: FactSource | undefined
  #evaluate: Evaluate | undefined
  readonly #looks = new WeakMap<Scope, KnownLook>()
  readonly #shownByLook = new WeakMap<Look<ToolEntry>, RenderedView>()

  constructor(options: Options) {
    this.#options = options
    this.#factSource = typeof options.facts === 'object' ? options.facts : undefined
    this.readAgain()
  }

  /** Forgets what predicates said: what they read beside facts may have changed. */
  readAgain(): void {
    this.#evaluate = this.#factSource === undefined ? undefined : rememberingEvaluate(this.#factSource)
  }

  /** What this scope sees now, with how much data there is behind it. */
  listed(scope: Scope): RenderedView {
    const { look, snapshot } = this.#seen(scope)
    const shown = this.#shownFor(scope, look)
    return scope.settings.counts && shown.isCounted ? withCounts(shown, look.modes, snapshot) : shown
  }

  /** What this scope sees now. */
  shown(scope: Scope): RenderedView {
    return this.#shownFor(scope, this.look(scope))
  }

  /** Everything that decides what this scope sees, read at one moment. */
  look(scope: Scope): Look<ToolEntry> {
    return this.#seen(scope).look
  }

  #shownFor(scope: Scope, look: Look<ToolEntry>): RenderedView {
    const shown = this.#cached(this.#options.catalogOf(scope), look)
    if (scope.settings.exposureSettings.order !== 'append' || scope.settings.era === 'stateless') return shown
    return this.#inOrderOf(scope, shown)
  }

  /** The look of a scope with what its predicates read. */
  #seen(scope: Scope): Seen {
    const catalogState = this.#options.catalogOf(scope)
    if (!this.#isSteady(catalogState)) return this.#seenNow(scope, catalogState)
    const { version } = this.#options.permissions
    const { succeeded, relists, state } = scope
    const known = this.#looks.get(scope)
    const isSame =
      known !== undefined &&
      known.catalogState === catalogState &&
      known.activation === state.activation &&
      known.version === version &&
      known.succeeded === succeeded &&
      known.relists === relists
    if (isSame) return known.seen
    const seen = this.#seenNow(scope, catalogState)
    this.#looks.set(scope, { catalogState, activation: state.activation, version, succeeded, relists, seen })
    return seen
  }

  /** Whether what a scope sees depends on nothing but what is known to change. */
  #isSteady({ catalog }: CatalogState): boolean {
    const { permissions, facts } = this.#options
    return facts === undefined && permissions.isVersioned && catalog.conditional.length + catalog.composite.length === 0
  }

  #seenNow(scope: Scope, catalogState: CatalogState): Seen {
    const facts = this.facts()
    const snapshot = snapshotIn(scope.settings.preference, catalogState, scope.state.activation, facts)
    const measured = this.#measured(scope, snapshot)
    const { exposure } = this.#decided(catalogState, scope, measured)
    const hints = this.#hints(catalogState, scope, { ...measured, exposure })
    const surfaces = surfacesOf(catalogState, scope, exposure)
    const look = { ...measured, exposure, hints, surfaces, activatorsAreTools: !surfaces.has('activators') }
    return { look: look.forbidden.size === 0 && !look.readOnly ? look : withoutIdleDeactivator(catalogState, look), snapshot }
  }

  #hints(catalogState: CatalogState, { settings }: Scope, look: Look<ToolEntry>): Look['hints'] {
    const { hostHints, budgetTokens } = settings.exposureSettings
    if (!(hostHints ?? look.exposure === 'native')) return 'none'
    // Searching for a tool that fits into the budget would only cost a turn.
    return look.exposure === 'native' && this.#fullTokens(catalogState, look) <= budgetTokens ? 'load' : 'search'
  }

  #fullTokens(catalogState: CatalogState, look: Look<ToolEntry>): number {
    return this.#cached(catalogState, { ...look, exposure: 'everything', surfaces: noSurfaces, hints: 'none' }).tokens
  }

  /** Everything that a scope could be shown. */
  #measured(scope: Scope, snapshot: Snapshot): Look<ToolEntry> {
    const catalogState = this.#options.catalogOf(scope)
    const { missesChanges, settings } = scope
    const { principal, readOnly, era } = settings
    const { activation } = scope.state
    const { unavailable, modes } = this.#availability(catalogState, snapshot)
    const forbidden = this.#options.permissions.forbidden(catalogState.catalog, principal)
    // Whoever does not read the list again in time would not see what a call or new data adds to it.
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
    // What is said while no fact can be read holds for that moment alone.
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

  /** The tools that this scope is shown now, without the surface. */
  open(scope: Scope): RenderedView {
    return this.#cached(this.#options.catalogOf(scope), { ...this.look(scope), surfaces: noSurfaces })
  }

  /** Everything that exists for this scope and can be used now, at once or when its group is opened, however it is shown. */
  whole(scope: Scope): RenderedView {
    const catalogState = this.#options.catalogOf(scope)
    const look = this.look(scope)
    const activation = scope.settings.canActivate ? this.#opened(catalogState, look.activation) : look.activation
    return this.#cached(catalogState, { ...look, activation, exposure: 'everything', surfaces: noSurfaces, hints: 'none' })
  }

  /** The activation with every group that must be opened before its tools can run. */
  #opened({ groups }: CatalogState, activation: Activation): Activation {
    const strict = [...groups.byName.keys()].filter((name) => isStrict(groups, name))
    if (strict.every((name) => activation.groups.includes(name))) return activation
    const needed = strict.flatMap((name) => [...ancestorsOf(groups, name), name])
    return { ...activation, groups: [...new Set([...needed, ...activation.groups])] }
  }

  /** How this scope is shown, and why. */
  decision(scope: Scope): Decision {
    const catalogState = this.#options.catalogOf(scope)
    const snapshot = snapshotIn(scope.settings.preference, catalogState, scope.state.activation, this.facts())
    return this.#decided(catalogState, scope, this.#measured(scope, snapshot))
  }

  #decided(catalogState: CatalogState, { settings }: Scope, look: Look<ToolEntry>): Decision {
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
    const tokens = this.#fullTokens(catalogState, look)
    const measure = `the full list costs about ${tokens} tokens and the budget is ${budgetTokens}`
    return { exposure: tokens <= budgetTokens ? 'everything' : 'search', reason: measure, tokens }
  }

  /** What the predicates of this scope read. Where every group is shown, every group that is only attention counts as active. */
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

  #cached(catalogState: CatalogState, look: Look<ToolEntry>): RenderedView {
    const known = this.#shownByLook.get(look)
    if (known !== undefined) return known
    const made = this.#cachedByKey(catalogState, look)
    this.#shownByLook.set(look, made)
    return made
  }

  #cachedByKey(catalogState: CatalogState, look: Look<ToolEntry>): RenderedView {
    const cache = this.#cacheOf(catalogState)
    const key = this.#keyOf(catalogState, look)
    const found = cache.get(key)
    if (found !== undefined) return found
    const made = makeShown(catalogState, look)
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

  #keyOf({ catalog, groups }: CatalogState, look: Look<ToolEntry>): string {
    const bits = (set: ReadonlySet<ToolEntry>, among: readonly ToolEntry[]): string =>
      set.size === 0 ? '' : among.map((entry) => (set.has(entry) ? '1' : '0')).join('')
    const { exposure, surfaces, hints, readOnly } = look
    const done = look.succeeded === undefined ? '*' : [...look.succeeded].join()
    const modes = look.everyMode ? '*' : [...look.modes.values()].join('.')
    const marks = `${readOnly ? 'r' : ''}${hints}${look.activatorsAreTools === true ? 'a' : ''}`
    const flags = `${exposure} ${[...surfaces].join()} ${marks} ${done} ${modes}`
    return `${flags}|${bits(look.unavailable, catalog.conditional)}|${bits(look.forbidden, catalog.entries)}|${this.#activationKey(groups, look.activation)}`
  }

  // The order of groups only matters for choosing between versions, so scopes that opened the same groups share a view.
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

  #inOrderOf(scope: Scope, shown: RenderedView): RenderedView {
    const entries = appended(scope.order, shown.entries)
    scope.order = entries.map((entry) => entry.tool.name)
    return entries.every((entry, index) => entry === shown.entries[index]) ? shown : renderView(entries)
  }
}

function snapshotIn(preference: ExposurePreference, { groups }: CatalogState, activation: Activation, facts: Facts): Snapshot {
  if (preference === 'groups') return snapshotOf(groups, activation, facts)
  return {
    facts,
    isActive: (name) => isActive(groups, activation, name) || (groups.byName.has(name) && !isStrict(groups, name)),
  }
}

/** The generated `deactivate` would tell a reader for whom no group exists that there are groups. */
function withoutIdleDeactivator(catalogState: CatalogState, look: Look<ToolEntry>): Look<ToolEntry> {
  const deactivator = catalogState.catalog.byName.get('deactivate')?.find((entry) => entry.source === surfaceSource)
  if (deactivator === undefined || readerOf(catalogState, look).groups.size > 0) return look
  return { ...look, forbidden: new Set([...look.forbidden, deactivator]) }
}

function makeShown(catalogState: CatalogState, look: Look<ToolEntry>): RenderedView {
  const surface = surfaceFor(catalogState, look)
  return renderView(viewOf(catalogState.catalog, look).entries.map((entry) => surface.get(entry) ?? asShown(entry, look)))
}

/** The entry with the modes that it has now, and with what to do first where it is listed before that was done. */
function asShown(entry: ToolEntry, look: Look<ToolEntry>): ToolEntry {
  const available = look.modes.get(entry)
  const modes = look.everyMode ? entry.modes?.asStatic : entry.modes
  const tool = available === undefined ? entry.tool : (modes?.toolWith(entry.tool, available) ?? entry.tool)
  const empty = modes !== entry.modes && entry.modes?.all.some((mode) => mode.available !== undefined)
  const whole = empty === true ? advised(tool, emptyModes) : tool
  const first =
    typeof entry.after === 'string' && look.succeeded === undefined ? advised(whole, `Call ${entry.after} first.`) : whole
  const hinted = look.hints === 'none' ? first : withHints(entry, first, look.hints)
  if (hinted === entry.tool && modes === entry.modes) return entry
  return { ...entry, tool: hinted, ...(modes !== undefined && { modes }), declared: entry }
}

/** What a tool says that lists modes which may be empty. It does not say which are: this list is read once. */
const emptyModes = 'A mode without data replies with how to get some.'

/** The tools for which nobody has to wait here: those that succeeded, and those that do not exist for this reader. */
function notAwaited(
  { awaited, byName }: Catalog<ToolEntry>,
  succeeded: ReadonlySet<string>,
  { forbidden, readOnly }: Pick<Look<ToolEntry>, 'forbidden' | 'readOnly'>,
): ReadonlySet<string> {
  const exists = (entry: ToolEntry): boolean => !forbidden.has(entry) && (!readOnly || facetOf(entry.tool) === 'read-only')
  const missing = [...awaited].filter((name) => byName.get(name)?.some(exists) !== true)
  return missing.length === 0 ? succeeded : new Set([...succeeded, ...missing])
}

const wholeSurfaces = new WeakMap<CatalogState, ReadonlyMap<ToolEntry, ToolEntry>>()

/** The tools of the surface, each as this look may read it. */
function surfaceFor(catalogState: CatalogState, look: Look<ToolEntry>): ReadonlyMap<ToolEntry, ToolEntry> {
  // They read the same to everyone from whom nothing is kept back: described once, they are also encoded once.
  const isWhole = look.forbidden.size === 0 && !look.readOnly
  const found = isWhole ? wholeSurfaces.get(catalogState) : undefined
  if (found !== undefined) return found
  const reader = readerOf(catalogState, look)
  const entries = catalogState.catalog.entries.filter((entry) => entry.source === surfaceSource || isUndescribed(entry))
  const made = new Map(entries.map((entry) => [entry, namingGroups(forReader(entry, catalogState.surface, reader), reader)]))
  if (isWhole) wholeSurfaces.set(catalogState, made)
  return made
}

/** What a reader with this look may know of. Tools that come and go with a predicate are left unmentioned. */
export function readerOf({ catalog, groups }: CatalogState, look: Look<ToolEntry>): Reader {
  const exists = (entry: ToolEntry): boolean =>
    !look.forbidden.has(entry) && (!look.readOnly || facetOf(entry.tool) === 'read-only')
  const existing = (group: string): readonly ToolEntry[] => (catalog.byGroup.get(group) ?? []).filter(exists)
  const worthKnowing = (group: string): boolean =>
    (look.forbidden.size === 0 && !look.readOnly) ||
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

/** Whether it depends on the moment that there is such a tool: it has a condition, or only modes that have one. */
function comesAndGoes({ visibility, modes }: ToolEntry): boolean {
  if (visibility.when !== undefined) return true
  return modes?.policy === 'filtered' && modes.all.every(({ available }) => available !== undefined)
}
