import {
  type Activation,
  ancestorsOf,
  appended,
  type Catalog,
  type Facts,
  facetOf,
  isActive,
  isStrict,
  type Snapshot,
  snapshotOf,
  type ViewInputs,
} from '@unfold-mcp/core'
import { surfaceSource } from '../catalog/activators.ts'
import type { CatalogState } from '../catalog/catalog-state.ts'
import type { Permissions } from '../catalog/permissions.ts'
import type { ExposurePreference, Scope } from '../scope/scope.ts'
import type { ToolEntry } from '../tool/entry.ts'
import { type Decision, decideExposure } from './exposure-decision.ts'
import { Predicates, type PredicatesOptions } from './predicates.ts'
import { readerOf } from './reader.ts'
import { type RenderedView, renderView, withCounts } from './rendered-view.ts'
import { noSurfaces, surfacesFor } from './surfaces.ts'
import { ViewCache } from './view-cache.ts'

interface Options extends PredicatesOptions {
  readonly catalogOf: (scope: Scope) => CatalogState
  readonly permissions: Permissions
}

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

/** Computes what each scope sees. Scopes with equal inputs share one view. */
export class Views {
  readonly #options: Options
  readonly #predicates: Predicates
  readonly #cache = new ViewCache()
  readonly #knownInputs = new WeakMap<Scope, KnownInputs>()

  constructor(options: Options) {
    this.#options = options
    this.#predicates = new Predicates(options)
  }

  /** Forgets results of predicates, which may depend on more than facts. */
  reevaluate(): void {
    this.#predicates.reevaluate()
  }

  /** The current view. The modes of composite tools say how much data they have. */
  withCounts(scope: Scope): RenderedView {
    const { inputs, snapshot } = this.#inputsWithSnapshot(scope)
    const view = this.#renderedFor(scope, inputs)
    return scope.settings.counts && view.isCounted ? withCounts(view, inputs.modes, snapshot) : view
  }

  /** The current view. */
  rendered(scope: Scope): RenderedView {
    return this.#renderedFor(scope, this.inputs(scope))
  }

  /** The current facts. */
  facts(): Facts {
    return this.#predicates.facts()
  }

  /** Everything that decides what this scope sees, read at one moment. */
  inputs(scope: Scope): ViewInputs<ToolEntry> {
    return this.#inputsWithSnapshot(scope).inputs
  }

  #renderedFor(scope: Scope, inputs: ViewInputs<ToolEntry>): RenderedView {
    const view = this.#cache.get(this.#options.catalogOf(scope), inputs)
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
    const { exposure } = decideExposure(scope, catalogState, () => this.#fullTokens(catalogState, full))
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
    return this.#cache.get(catalogState, { ...inputs, exposure: 'everything', surfaces: noSurfaces, hints: 'none' }).tokens
  }

  /** The inputs for showing everything. */
  #fullInputs(scope: Scope, snapshot: Snapshot): ViewInputs<ToolEntry> {
    const catalogState = this.#options.catalogOf(scope)
    const { missesChanges, settings } = scope
    const { principal, readOnly, era } = settings
    const { activation } = scope.state
    const { unavailable, modes } = this.#predicates.availability(catalogState, snapshot)
    const forbidden = this.#options.permissions.forbidden(catalogState.catalog, principal)
    // A client that lists again too late would miss tools that a call or new data adds.
    const canWait = era === 'session' && !missesChanges
    const succeeded = canWait ? notAwaited(catalogState.catalog, scope.succeeded, { forbidden, readOnly }) : undefined
    const { groups } = catalogState
    const activatorsAreTools = !scope.settings.canActivate
    const shape = { exposure: 'everything', surfaces: noSurfaces, hints: 'none', activatorsAreTools, readOnly } as const
    return { groups, activation, ...shape, unavailable, modes, everyMode: missesChanges, forbidden, succeeded }
  }

  /** The current view without generated tools. */
  visible(scope: Scope): RenderedView {
    return this.#cache.get(this.#options.catalogOf(scope), { ...this.inputs(scope), surfaces: noSurfaces })
  }

  /** All permitted and available tools, listed or not. */
  permitted(scope: Scope): RenderedView {
    const catalogState = this.#options.catalogOf(scope)
    const inputs = this.inputs(scope)
    const activation = scope.settings.canActivate ? this.#opened(catalogState, inputs.activation) : inputs.activation
    return this.#cache.get(catalogState, { ...inputs, activation, exposure: 'everything', surfaces: noSurfaces, hints: 'none' })
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
    return decideExposure(scope, catalogState, () => this.#fullTokens(catalogState, this.#fullInputs(scope, snapshot)))
  }

  /** What predicates read. Where all groups are shown, groups without hooks count as active. */
  snapshot(scope: Scope): Snapshot {
    return snapshotIn(scope.settings.preference, this.#options.catalogOf(scope), scope.state.activation, this.facts())
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
