import { type Activation, isActive } from '../groups/activation.ts'
import { ancestorsOf, type Groups } from '../groups/groups.ts'
import type { Entry, Facts, Snapshot, Surface } from '../tool/entry.ts'
import { type Evaluate, evaluateDirectly } from '../tool/facts.ts'
import { fingerprint, toolFingerprint } from '../tool/fingerprint.ts'
import { isWorthListing, type ModeSet } from '../tool/modes.ts'
import { facetOf } from '../tool/tool.ts'
import type { Catalog } from './catalog.ts'

/**
 * How a view is presented: group by group as it is activated (`groups`), all at once (`everything`), all at once with the hints
 * that hosts with a tool search of their own read (`native`), tool by tool as each is enabled (`lazy`), or through search and
 * call-through alone (`search`).
 */
export type Exposure = 'groups' | 'everything' | 'native' | 'lazy' | 'search'

/** Whether the exposure lists every tool from the start. */
export const listsEverything = (exposure: Exposure): boolean => exposure === 'everything' || exposure === 'native'

/** Everything that decides what one scope sees, taken at one moment. */
export interface ViewInputs<E extends Entry = Entry> {
  readonly groups: Groups
  readonly activation: Activation
  readonly exposure: Exposure
  /** The surfaces that are listed: activators only where a client can follow what they do. */
  readonly surfaces: ReadonlySet<Surface>
  /**
   * Which `_meta` hints tools carry for hosts with a tool search of their own: words to be found by (`search`), or to be loaded
   * from the start (`load`).
   */
  readonly hints: 'none' | 'search' | 'load'
  /** Activators that the author wrote are ordinary tools here. */
  readonly activatorsAreTools?: boolean
  /** Only tools that say they change nothing. */
  readonly readOnly: boolean
  /** Entries that cannot be used now. */
  readonly unavailable: ReadonlySet<E>
  /** Entries that do not exist for this principal. */
  readonly forbidden: ReadonlySet<E>
  /** The modes of composite entries that have data now. */
  readonly modes: ReadonlyMap<E, ModeSet>
  /** Lists composite entries with all modes, with or without data: for a client that does not read the list again. */
  readonly everyMode: boolean
  /** The tools that have succeeded, which others wait for; without it none waits. */
  readonly succeeded: ReadonlySet<string> | undefined
}

/** The tools one scope sees, in order. */
export interface View<E extends Entry = Entry> {
  readonly entries: readonly E[]
  /** Differs whenever what a client would read in the list differs. */
  readonly fingerprint: string
}

/** The snapshot that every predicate of one computation reads. */
export function snapshotOf<F extends Facts>(groups: Groups, activation: Activation, facts: F): Snapshot<F> {
  return { facts, isActive: (name) => isActive(groups, activation, name) }
}

/** The entries whose predicate is false; one that throws counts as false and is handed to `report`. */
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

/** Whether this one entry can be used now. */
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

/** What this scope sees: permitted, available, and what its attention is on; of several versions of a tool, one. */
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

/** What a name means to this scope. `hidden`: permitted and available, but not what its attention is on. */
export type Resolution<E extends Entry> =
  | { readonly kind: 'shown'; readonly entry: E }
  | { readonly kind: 'hidden'; readonly entry: E }
  | { readonly kind: 'unknown' }

/** The meaning of `name`, or of a former name, in this look. */
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

/** The entries in the order in which a scope first saw them: what it knew keeps its place, what is new comes last. */
export function appended<E extends Entry>(known: readonly string[], entries: readonly E[]): readonly E[] {
  const place = new Map(known.map((name, index) => [name, index]))
  return entries.toSorted((a, b) => (place.get(a.tool.name) ?? known.length) - (place.get(b.tool.name) ?? known.length))
}

/** The fingerprint of a list in this order. */
export function viewFingerprint(entries: readonly Entry[]): string {
  return fingerprint(entries.map((entry) => toolFingerprint(entry.tool)).join())
}

/** Whether the entry exists for this scope: permitted, and not an activator of a group that has nothing for it. */
function exists<E extends Entry>(catalog: Catalog<E>, entry: E, inputs: ViewInputs<E>): boolean {
  return isPermitted(entry, inputs) && (entry.activates === undefined || opensSomething(catalog, entry.activates, inputs))
}

function isPermitted<E extends Entry>(entry: E, inputs: ViewInputs<E>): boolean {
  return !inputs.forbidden.has(entry) && (!inputs.readOnly || facetOf(entry.tool) === 'read-only' || isSurface(entry, inputs))
}

/** Whether a composite entry has nothing to choose from. It can be called all the same, and says what to do. */
function isEmpty<E extends Entry>(entry: E, { modes, everyMode }: ViewInputs<E>): boolean {
  const available = everyMode ? undefined : modes.get(entry)
  return entry.modes !== undefined && available !== undefined && !isWorthListing(entry.modes, available)
}

/** Whether the entry is not listed yet because the tool it waits for has not succeeded. */
export function awaitsPrerequisite<E extends Entry>({ after }: E, { succeeded, exposure }: ViewInputs<E>): boolean {
  return typeof after === 'string' && exposure === 'groups' && succeeded !== undefined && !succeeded.has(after)
}

/** Whether the entry belongs to the surface here, rather than to the tools. */
export function isSurface<E extends Entry>(entry: E, { activatorsAreTools = false }: ViewInputs<E>): boolean {
  if (entry.origin !== 'surface' && entry.activates === undefined) return false
  return !(activatorsAreTools && entry.isHandwritten === true)
}

function isShown<E extends Entry>(entry: E, inputs: ViewInputs<E>, active: ReadonlySet<string>): boolean {
  if (inputs.unavailable.has(entry)) return false
  if (isSurface(entry, inputs))
    return inputs.surfaces.has(entry.surface ?? 'activators') && (entry.within === undefined || active.has(entry.within))
  if (awaitsPrerequisite(entry, inputs)) return false
  // An activator that is an ordinary tool goes with the tools of the group that it opens.
  const group = entry.visibility.group ?? entry.activates
  const strict = group !== undefined && isStrict(inputs.groups, group)
  // What is shown tool by tool is not shown because its group had to be opened for one of them.
  if (group !== undefined && active.has(group) && !(strict && (inputs.exposure === 'lazy' || inputs.exposure === 'search')))
    return true
  if (strict && !active.has(group)) return false
  if (listsEverything(inputs.exposure) || entry.pinned === true || (inputs.exposure === 'groups' && group === undefined))
    return true
  return isEnabled(inputs.activation, entry.tool.name) || entry.tags.some((tag) => inputs.activation.tags.includes(tag))
}

// Thousands can be enabled at once, and every tool is looked for among them.
const enabled = new WeakMap<readonly string[], ReadonlySet<string>>()

function isEnabled({ tools }: Activation, name: string): boolean {
  const found = enabled.get(tools) ?? new Set(tools)
  enabled.set(tools, found)
  return found.has(name)
}

/** An activator is worth showing when its group, or one below it, has a tool that exists for this scope. */
function opensSomething<E extends Entry>(catalog: Catalog<E>, group: string, inputs: ViewInputs<E>): boolean {
  const below = (name: string): boolean =>
    (catalog.byGroup.get(name) ?? []).some((member) => isPermitted(member, inputs)) ||
    (inputs.groups.children.get(name) ?? []).some(below)
  return (inputs.forbidden.size === 0 && !inputs.readOnly) || below(group)
}

function activeGroups(inputs: Pick<ViewInputs, 'groups' | 'activation'>): ReadonlySet<string> {
  return new Set(inputs.activation.groups.filter((name) => isActive(inputs.groups, inputs.activation, name)))
}

/** Whether the group, or one it lies in, lets its tools run only while active. */
export function isStrict(groups: Groups, name: string): boolean {
  return [name, ...ancestorsOf(groups, name)].some((group) => groups.byName.get(group)?.strict === true)
}

/** Of several versions, the one the client pinned, else the one an active group brings, else the newest. */
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

// A tool may be called `constructor` or `__proto__`, which every object seems to have.
const ownOf = (versions: Activation['versions'], name: string): string | undefined =>
  Object.hasOwn(versions, name) ? versions[name] : undefined
