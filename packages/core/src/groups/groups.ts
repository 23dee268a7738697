import { Failure } from '../base/failure.ts'
import { checkGroupName, printable } from '../base/names.ts'
import { nearest, nearestHint } from '../base/nearest.ts'

/**
 * Name of the gate: one implicit group that is the parent of every top-level group. Clients do not see it as a group, and no author
 * can declare this name.
 */
export const gateName = '(gate)'

/** Declaration of a group. `Name` is the union of all declared group names. */
export interface GroupDeclaration<Name extends string = string> {
  /** Description for the model, shown by the activator. Default: generated from the names of the tools. */
  readonly description?: string
  /** Title in a generated description. Default: the name. */
  readonly title?: string
  /** Group that must be active first. */
  readonly parent?: Name
  /** Groups that cannot be active at the same time; declaring one side is enough. */
  readonly excludes?: readonly Name[]
  /** Groups that are activated along with this one. */
  readonly needs?: readonly Name[]
  /** Active from the start. */
  readonly default?: boolean
  /** Versions of tools that this group selects. */
  readonly versions?: { readonly [tool: string]: string }
  /** The tools of the group can only be called while it is active. */
  readonly strict?: boolean
}

/** Limits for active groups. */
export interface Quota {
  /** Maximum number of active groups. */
  readonly groups?: number
  /** Maximum tokens of the tools of all active groups. */
  readonly tokens?: number
  /** `evict` deactivates the least recently used groups; `refuse` rejects the activation. */
  readonly whenFull?: 'evict' | 'refuse'
}

export interface Group {
  readonly name: string
  /** Empty if the description is generated. */
  readonly description: string
  readonly title: string | undefined
  readonly parent: string | undefined
  readonly excludes: ReadonlySet<string>
  readonly needs: readonly string[]
  readonly default: boolean
  readonly versions: { readonly [tool: string]: string }
  readonly strict: boolean
}

/** Validated graph of groups: all names exist, without cycles or contradictions. */
export interface Groups {
  readonly byName: ReadonlyMap<string, Group>
  readonly children: ReadonlyMap<string, readonly string[]>
  /** Groups that need the key. */
  readonly dependents: ReadonlyMap<string, readonly string[]>
  readonly quota: Quota
}

/** Validates a declaration and builds the graph. */
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
    { description = '', title, parent, needs = [], default: isDefault = false, versions = {}, strict = false },
  ] of Object.entries(declarations)) {
    byName.set(name, {
      name,
      description,
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

/** Returns a group; throws `unknown_group` with the nearest names. */
export function groupOf(groups: Groups, name: string): Group {
  const found = groups.byName.get(name)
  if (found === undefined) throw unknownGroup(name, groups.byName.keys())
  return found
}

/** Returns the ancestors of a group, nearest first. */
export function ancestorsOf(groups: Groups, name: string): readonly string[] {
  const found: string[] = []
  for (let at = groups.byName.get(name)?.parent; at !== undefined; at = groups.byName.get(at)?.parent) found.push(at)
  return found
}

/** Returns a group and everything it requires, in activation order. */
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

/** Returns a group and everything that depends on it, in deactivation order: children first. */
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

/** Sorts groups so that each comes after everything that depends on it. */
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
      throw new Failure('group_cycle', `Groups form a cycle: ${cycle.join(' → ')}. Remove one "parent" or "needs" of these.`, {
        path: cycle,
      })
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
        `Group "${name}" can never be active: it requires both "${pair[0]}" and "${pair[1]}", which exclude each other.`,
      )
    }
  }
  const defaults = [...groups.byName.values()].filter((group) => group.default).flatMap((group) => closureOf(groups, group.name))
  const pair = findConflict(groups, defaults)
  if (pair !== undefined)
    throw conflictingGroups(pair, `Groups "${pair[0]}" and "${pair[1]}" are both active by default but exclude each other.`)
  const limit = groups.quota.groups
  const counted = [...new Set(defaults)].filter((name) => name !== gateName)
  if (limit !== undefined && counted.length > limit) {
    throw conflictingGroups(counted, `More groups are active by default than the quota of ${limit} allows.`)
  }
}

/** Returns two groups that exclude each other. */
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
      throw new Failure('invalid_declaration', `quota.${what} must be a positive integer, not ${String(value)}.`, {
        what: `quota.${what}`,
      })
    }
  }
  return quota
}

function conflictingGroups(groups: readonly string[], message: string): Failure {
  return new Failure('conflicting_groups', message, { groups })
}

/** Creates the failure for a group that is not in `names`. */
export function unknownGroup(name: string, names: Iterable<string>, why?: string): Failure<'unknown_group'> {
  if (name === gateName) return new Failure('unknown_group', 'This server has no gate.', { group: name, nearest: [] })
  const all = [...names].filter((each) => each !== gateName)
  const close = nearest(name, all)
  const known =
    all.length === 0 ? ' This server has no groups.' : ` Groups: ${all.slice(0, 20).join(', ')}${all.length > 20 ? ', …' : ''}.`
  return new Failure(
    'unknown_group',
    `Unknown group "${printable(name)}".${why === undefined ? '' : ` ${why}.`}${nearestHint(close)}${known}`,
    {
      group: name,
      nearest: close,
    },
  )
}
