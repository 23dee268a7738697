import { type Activation, isActive } from '../groups/activation.ts'
import { ancestorsOf, type Groups } from '../groups/groups.ts'
import type { Entry, Facts, Snapshot, Surface } from '../tool/entry.ts'
import { type Evaluate, evaluateDirectly } from '../tool/facts.ts'
import { fingerprint, toolFingerprint } from '../tool/fingerprint.ts'
import { isWorthListing, type ModeSet } from '../tool/modes.ts'
import { facetOf } from '../tool/tool.ts'
import type { Catalog } from './catalog.ts'

/**
 * Presentation of a view: activated groups (`groups`), all tools (`everything`), all tools with hints for hosts that have their own
 * tool search (`native`), individually enabled tools (`lazy`), only search and call-through (`search`), or only search and scripts
 * over all tools (`code`).
 */
export type Exposure = 'groups' | 'everything' | 'native' | 'lazy' | 'search' | 'code'

/** True if the exposure lists every tool from the start. */
export const listsEverything = (exposure: Exposure): boolean => exposure === 'everything' || exposure === 'native'

/** True if clients find tools instead of listing them. */
export const findsTools = (exposure: Exposure): boolean => exposure === 'search' || exposure === 'lazy' || exposure === 'code'

/** Everything that determines the view of one scope at one moment. */
export interface ViewInputs<E extends Entry = Entry> {
  readonly groups: Groups
  readonly activation: Activation
  readonly exposure: Exposure
  /** Listed surfaces; activators only for clients that follow list changes. */
  readonly surfaces: ReadonlySet<Surface>
  /**
   * `_meta` hints for hosts with their own tool search: search keywords (`search`), or load from the start (`load`).
   */
  readonly hints: 'none' | 'search' | 'load'
  /** Handwritten activators are listed as ordinary tools. */
  readonly activatorsAreTools?: boolean
  /** Only tools annotated as read-only. */
  readonly readOnly: boolean
  /** Entries that are unavailable now. */
  readonly unavailable: ReadonlySet<E>
  /** Entries that this principal may not use. */
  readonly forbidden: ReadonlySet<E>
  /** Available modes of composite entries. */
  readonly modes: ReadonlyMap<E, ModeSet>
  /** List all modes, with or without data: for clients that do not list again. */
  readonly everyMode: boolean
  /** Tools that have succeeded, for entries with a prerequisite; `undefined` disables prerequisites. */
  readonly succeeded: ReadonlySet<string> | undefined
}

/** Tools visible to one scope, in order. */
export interface View<E extends Entry = Entry> {
  readonly entries: readonly E[]
  /** Changes whenever the list changes for a client. */
  readonly fingerprint: string
}

/** Creates the snapshot shared by all predicates of one computation. */
export function snapshotOf<F extends Facts>(groups: Groups, activation: Activation, facts: F): Snapshot<F> {
  return { facts, isActive: (name) => isActive(groups, activation, name) }
}

/** Returns the entries whose predicate is false; one that throws counts as false and is reported. */
export function unavailableEntries<E extends Entry>(
  catalog: Catalog<E>,
  snapshot: Snapshot,
  report: (entry: E, error: unknown) => void,
  evaluate: Evaluate = evaluateDirectly,
): ReadonlySet<E> {
  const found = new Set<E>()
  for (const entry of catalog.conditional) if (!isAvailable(entry, snapshot, report, evaluate)) found.add(entry)
  return found
}

export function isAvailable<E extends Entry>(
  entry: E,
  snapshot: Snapshot,
  report: (entry: E, error: unknown) => void,
  evaluate: Evaluate = evaluateDirectly,
): boolean {
  const { when } = entry.visibility
  if (when === undefined) return true
  try {
    return evaluate(when, snapshot)
  } catch (error) {
    report(entry, error)
    return false
  }
}

/** Computes the view of a scope: permitted, available and listed entries; one version per tool. */
export function computeView<E extends Entry>(catalog: Catalog<E>, inputs: ViewInputs<E>): View<E> {
  const active = activeGroups(inputs)
  const shown = (entry: E): boolean => exists(catalog, entry, inputs) && isShown(entry, inputs, active) && !isEmpty(entry, inputs)
  const pinned = new Set(Object.keys(inputs.activation.versions))
  const entries = catalog.entries.filter((entry) => {
    const versions = catalog.byName.get(entry.tool.name) ?? []
    const single = versions.length === 1 && !pinned.has(entry.tool.name)
    return single ? shown(entry) : choose(versions.filter(shown), inputs) === entry
  })
  return {
    entries,
    get fingerprint() {
      return viewFingerprint(entries)
    },
  }
}

/** Result of resolving a name. `hidden`: permitted and available, but not listed. */
export type Resolution<E extends Entry> =
  | { readonly kind: 'shown'; readonly entry: E }
  | { readonly kind: 'hidden'; readonly entry: E }
  | { readonly kind: 'unknown' }

/** Resolves a name or a former name for a scope. */
export function resolve<E extends Entry>(catalog: Catalog<E>, inputs: ViewInputs<E>, name: string): Resolution<E> {
  const target = catalog.aliases.get(name) ?? name
  const existing =
    catalog.byName.get(target)?.filter((entry) => exists(catalog, entry, inputs) && !inputs.unavailable.has(entry)) ?? []
  const active = activeGroups(inputs)
  const shown = choose(
    existing.filter((entry) => isShown(entry, inputs, active)),
    inputs,
  )
  if (shown !== undefined) return { kind: 'shown', entry: shown }
  const hidden = choose(existing, inputs)
  return hidden === undefined ? { kind: 'unknown' } : { kind: 'hidden', entry: hidden }
}

/** Sorts entries by first appearance: known ones keep their position, new ones come last. */
export function appended<E extends Entry>(known: readonly string[], entries: readonly E[]): readonly E[] {
  const place = new Map(known.map((name, index) => [name, index]))
  return entries.toSorted((a, b) => (place.get(a.tool.name) ?? known.length) - (place.get(b.tool.name) ?? known.length))
}

export function viewFingerprint(entries: readonly Entry[]): string {
  return fingerprint(entries.map((entry) => toolFingerprint(entry.tool)).join())
}

/** False for forbidden entries and for activators of groups without a permitted tool. */
function exists<E extends Entry>(catalog: Catalog<E>, entry: E, inputs: ViewInputs<E>): boolean {
  return isPermitted(entry, inputs) && (entry.activates === undefined || opensSomething(catalog, entry.activates, inputs))
}

function isPermitted<E extends Entry>(entry: E, inputs: ViewInputs<E>): boolean {
  return !inputs.forbidden.has(entry) && (!inputs.readOnly || facetOf(entry.tool) === 'read-only' || isSurface(entry, inputs))
}

/** True for a composite entry without available modes. It can still be called and replies with advice. */
function isEmpty<E extends Entry>(entry: E, { modes, everyMode }: ViewInputs<E>): boolean {
  const available = everyMode ? undefined : modes.get(entry)
  return entry.modes !== undefined && available !== undefined && !isWorthListing(entry.modes, available)
}

/** True if the entry is not listed because its prerequisite has not succeeded. */
export function awaitsPrerequisite<E extends Entry>({ after }: E, { succeeded, exposure }: ViewInputs<E>): boolean {
  return typeof after === 'string' && exposure === 'groups' && succeeded !== undefined && !succeeded.has(after)
}

/** True if the entry is part of the surface rather than an ordinary tool. */
export function isSurface<E extends Entry>(entry: E, { activatorsAreTools = false }: ViewInputs<E>): boolean {
  if (entry.origin !== 'surface' && entry.activates === undefined) return false
  return !(activatorsAreTools && entry.isHandwritten === true)
}

function isShown<E extends Entry>(entry: E, inputs: ViewInputs<E>, active: ReadonlySet<string>): boolean {
  if (inputs.unavailable.has(entry)) return false
  if (isSurface(entry, inputs))
    return inputs.surfaces.has(entry.surface ?? 'activators') && (entry.within === undefined || active.has(entry.within))
  if (awaitsPrerequisite(entry, inputs)) return false
  // An activator that is an ordinary tool belongs to the group it opens.
  const group = entry.visibility.group ?? entry.activates
  const strict = group !== undefined && isStrict(inputs.groups, group)
  // A group opened for one enabled tool does not list the others.
  if (group !== undefined && active.has(group) && !(strict && findsTools(inputs.exposure))) return true
  if (strict && !active.has(group)) return false
  if (listsEverything(inputs.exposure) || entry.pinned === true || (inputs.exposure === 'groups' && group === undefined))
    return true
  return isEnabled(inputs.activation, entry.tool.name) || entry.tags.some((tag) => inputs.activation.tags.includes(tag))
}

// Thousands of tools can be enabled, and every tool is looked up.
const enabled = new WeakMap<readonly string[], ReadonlySet<string>>()

function isEnabled({ tools }: Activation, name: string): boolean {
  const found = enabled.get(tools) ?? new Set(tools)
  enabled.set(tools, found)
  return found.has(name)
}

/** True if the group or a descendant has a permitted tool. */
function opensSomething<E extends Entry>(catalog: Catalog<E>, group: string, inputs: ViewInputs<E>): boolean {
  const below = (name: string): boolean =>
    (catalog.byGroup.get(name) ?? []).some((member) => isPermitted(member, inputs)) ||
    (inputs.groups.children.get(name) ?? []).some(below)
  return (inputs.forbidden.size === 0 && !inputs.readOnly) || below(group)
}

function activeGroups(inputs: Pick<ViewInputs, 'groups' | 'activation'>): ReadonlySet<string> {
  return new Set(inputs.activation.groups.filter((name) => isActive(inputs.groups, inputs.activation, name)))
}

/** True if the group or an ancestor is strict. */
export function isStrict(groups: Groups, name: string): boolean {
  return [name, ...ancestorsOf(groups, name)].some((group) => groups.byName.get(group)?.strict === true)
}

/** Selects a version: pinned by the client, selected by an active group, or the newest. */
function choose<E extends Entry>(versions: readonly E[], inputs: ViewInputs<E>): E | undefined {
  const name = versions[0]?.tool.name
  if (name === undefined || (versions.length === 1 && ownOf(inputs.activation.versions, name) === undefined)) return versions[0]
  const pinned = ownOf(inputs.activation.versions, name)
  if (pinned !== undefined) return versions.find((entry) => entry.version === pinned)
  for (const group of inputs.activation.groups.toReversed()) {
    const brought = ownOf(inputs.groups.byName.get(group)?.versions ?? {}, name)
    const match = brought === undefined ? undefined : versions.find((entry) => entry.version === brought)
    if (match !== undefined) return match
  }
  return versions.at(-1)
}

// A tool may be called `constructor` or `__proto__`.
const ownOf = (versions: Activation['versions'], name: string): string | undefined =>
  Object.hasOwn(versions, name) ? versions[name] : undefined
