import { Failure } from '../base/failure.ts'
import { checkGroupName, nearest, nearestHint, printable } from '../base/names.ts'

/**
 * The name of the gate among the groups: one group before everything, which is the parent of every group without one. It is no
 * group to clients, and no author can declare a group of this name.
 */
export const gateName = '(gate)'

/** A group as its author declares it. `Name` is the union of the names declared beside it. */
export interface GroupDeclaration<Name extends string = string> {
  /** What a model gains by opening the group; shown by its activator. Without it, one is generated from the names of its tools. */
  readonly about?: string
  /** What the group is called in a generated description, in place of its name. */
  readonly title?: string
  /** The group that must be active first. */
  readonly parent?: Name
  /** Groups that cannot be active at the same time; one side is enough. */
  readonly excludes?: readonly Name[]
  /** Groups that are activated along with this one. */
  readonly needs?: readonly Name[]
  /** Active from the start. */
  readonly default?: boolean
  /** Which version of a tool this group brings, for tools that have several. */
  readonly versions?: { readonly [tool: string]: string }
  /** The group's tools run only while it is active, whoever asks and however: more than a matter of attention. */
  readonly strict?: boolean
}

/** How much may be active at once, and what happens when it is reached. */
export interface Quota {
  /** The largest number of active groups. */
  readonly groups?: number
  /** The largest cost in tokens of the tools of all active groups. */
  readonly tokens?: number
  /** `evict` switches off the least recently used groups to make room; `refuse` leaves everything as it is. */
  readonly whenFull?: 'evict' | 'refuse'
}

export interface Group {
  readonly name: string
  /** Empty for a group that is described by its tools. */
  readonly about: string
  readonly title: string | undefined
  readonly parent: string | undefined
  readonly excludes: ReadonlySet<string>
  readonly needs: readonly string[]
  readonly default: boolean
  readonly versions: { readonly [tool: string]: string }
  readonly strict: boolean
}

/** The declared graph of groups, checked: every name exists, nothing is circular, nothing contradicts itself. */
export interface Groups {
  readonly byName: ReadonlyMap<string, Group>
  readonly children: ReadonlyMap<string, readonly string[]>
  /** Groups that need the named one. */
  readonly dependents: ReadonlyMap<string, readonly string[]>
  readonly quota: Quota
}

/** Checks a declaration and makes the graph; throws a failure that names what is wrong. */
export function declareGroups(declarations: { readonly [name: string]: GroupDeclaration }, quota: Quota = {}): Groups {
  const names = Object.keys(declarations)
  const excludes = new Map<string, Set<string>>(names.map((name) => [name, new Set()]))
  for (const [name, declaration] of Object.entries(declarations)) {
    if (name !== gateName) checkGroupName(name)
    const { parent, needs = [], excludes: excluded = [] } = declaration
    for (const other of [...(parent === undefined ? [] : [parent]), ...needs, ...excluded]) {
      if (!excludes.has(other)) throw unknownGroup(other, names, `Group "${name}" refers to it`)
    }
    for (const other of excluded) {
      if (other === name) throw conflictingGroups([name], `Group "${name}" excludes itself.`)
      excludes.get(name)?.add(other)
      excludes.get(other)?.add(name)
    }
  }
  const root = Object.hasOwn(declarations, gateName) ? gateName : undefined
  const byName = new Map<string, Group>()
  for (const [
    name,
    { about = '', title, parent, needs = [], default: isDefault = false, versions = {}, strict = false },
  ] of Object.entries(declarations)) {
    byName.set(name, {
      name,
      about,
      title,
      parent: parent ?? (name === root ? undefined : root),
      excludes: excludes.get(name) ?? new Set(),
      needs,
      default: isDefault,
      versions,
      strict,
    })
  }
  const groups: Groups = {
    byName,
    children: inverse(byName, (group) => (group.parent === undefined ? [] : [group.parent])),
    dependents: inverse(byName, (group) => group.needs),
    quota: checkedQuota(quota),
  }
  rejectCycles(groups)
  rejectContradictions(groups)
  return groups
}

export const noGroups: Groups = declareGroups({})

/** The group of this name; throws `unknown_group` with the nearest names. */
export function groupOf(groups: Groups, name: string): Group {
  const found = groups.byName.get(name)
  if (found === undefined) throw unknownGroup(name, groups.byName.keys())
  return found
}

/** The group's ancestors, nearest first. */
export function ancestorsOf(groups: Groups, name: string): readonly string[] {
  const found: string[] = []
  for (let at = groups.byName.get(name)?.parent; at !== undefined; at = groups.byName.get(at)?.parent) found.push(at)
  return found
}

/** The group with all that must be active for it, in the order in which it can be switched on. */
export function closureOf(groups: Groups, name: string): readonly string[] {
  const found = new Set<string>()
  const visit = (at: string): void => {
    if (found.has(at)) return
    const group = groupOf(groups, at)
    if (group.parent !== undefined) visit(group.parent)
    for (const need of group.needs) visit(need)
    found.add(at)
  }
  visit(name)
  return [...found]
}

/** The group with all that cannot stay active without it, in the order in which it can be switched off: children first. */
export function dependentClosure(groups: Groups, name: string): readonly string[] {
  const found = new Set<string>()
  const visit = (at: string): void => {
    if (found.has(at)) return
    found.add(at)
    for (const next of [...(groups.children.get(at) ?? []), ...(groups.dependents.get(at) ?? [])]) visit(next)
  }
  visit(name)
  return childrenFirst(groups, found)
}

/** The same groups, each after every group that cannot stand without it. */
export function childrenFirst(groups: Groups, names: Iterable<string>): readonly string[] {
  const wanted = new Set(names)
  const order: string[] = []
  const seen = new Set<string>()
  const visit = (at: string): void => {
    if (seen.has(at)) return
    seen.add(at)
    for (const next of [...(groups.children.get(at) ?? []), ...(groups.dependents.get(at) ?? [])]) visit(next)
    if (wanted.has(at)) order.push(at)
  }
  for (const name of wanted) visit(name)
  return order
}

function inverse(byName: ReadonlyMap<string, Group>, from: (group: Group) => readonly string[]): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const group of byName.values()) {
    for (const other of from(group)) found.set(other, [...(found.get(other) ?? []), group.name])
  }
  return found
}

function rejectCycles(groups: Groups): void {
  const done = new Set<string>()
  const visit = (name: string, path: readonly string[]): void => {
    if (done.has(name)) return
    const start = path.indexOf(name)
    if (start !== -1) {
      const cycle = [...path.slice(start), name]
      throw new Failure(
        'group_cycle',
        `Groups need each other in a circle: ${cycle.join(' → ')}. Remove one "parent" or "needs" of these.`,
        { path: cycle },
      )
    }
    const group = groups.byName.get(name)
    for (const next of [...(group?.parent === undefined ? [] : [group.parent]), ...(group?.needs ?? [])])
      visit(next, [...path, name])
    done.add(name)
  }
  for (const name of groups.byName.keys()) visit(name, [])
}

function rejectContradictions(groups: Groups): void {
  for (const name of groups.byName.keys()) {
    const pair = findConflict(groups, closureOf(groups, name))
    if (pair !== undefined) {
      throw conflictingGroups(
        pair,
        `Group "${name}" can never be active: it brings in both "${pair[0]}" and "${pair[1]}", which exclude each other.`,
      )
    }
  }
  const defaults = [...groups.byName.values()].filter((group) => group.default).flatMap((group) => closureOf(groups, group.name))
  const pair = findConflict(groups, defaults)
  if (pair !== undefined)
    throw conflictingGroups(pair, `Groups "${pair[0]}" and "${pair[1]}" are both on by default but exclude each other.`)
  const limit = groups.quota.groups
  const counted = [...new Set(defaults)].filter((name) => name !== gateName)
  if (limit !== undefined && counted.length > limit) {
    throw conflictingGroups(counted, `More groups are on by default than the quota of ${limit} allows.`)
  }
}

/** Two of these groups that exclude each other, if any do. */
export function findConflict(groups: Groups, names: readonly string[]): readonly [string, string] | undefined {
  const set = new Set(names)
  for (const name of set) {
    for (const other of groups.byName.get(name)?.excludes ?? []) if (set.has(other)) return [name, other]
  }
  return undefined
}

function checkedQuota(quota: Quota): Quota {
  for (const [what, value] of [
    ['groups', quota.groups],
    ['tokens', quota.tokens],
  ] as const) {
    if (value !== undefined && !(Number.isInteger(value) && value > 0)) {
      throw new Failure('invalid_declaration', `quota.${what} must be a whole number above 0, not ${String(value)}.`, {
        what: `quota.${what}`,
      })
    }
  }
  return quota
}

function conflictingGroups(groups: readonly string[], message: string): Failure {
  return new Failure('conflicting_groups', message, { groups })
}

/** The failure for a group that is not among `names`. */
export function unknownGroup(name: string, names: Iterable<string>, why?: string): Failure<'unknown_group'> {
  if (name === gateName) return new Failure('unknown_group', 'This server has no gate.', { group: name, nearest: [] })
  const all = [...names].filter((each) => each !== gateName)
  const close = nearest(name, all)
  const known =
    all.length === 0 ? ' This server has no groups.' : ` Groups: ${all.slice(0, 20).join(', ')}${all.length > 20 ? ', …' : ''}.`
  return new Failure(
    'unknown_group',
    `There is no group "${printable(name)}".${why === undefined ? '' : ` ${why}.`}${nearestHint(close)}${known}`,
    {
      group: name,
      nearest: close,
    },
  )
}
