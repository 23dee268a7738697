import { Failure } from '../base/failure.ts'
import {
  ancestorsOf,
  childrenFirst,
  closureOf,
  dependentClosure,
  findConflict,
  type Groups,
  gateName,
  groupOf,
} from './groups.ts'

/** Activation state of one scope: small, serializable, immutable. */
export interface Activation {
  /** Active groups, least recently used first. */
  readonly groups: readonly string[]
  /** Tools enabled individually. */
  readonly tools: readonly string[]
  /** Tags whose tools are enabled. */
  readonly tags: readonly string[]
  /** Versions of tools that the client pinned. */
  readonly versions: { readonly [tool: string]: string }
}

export const nothingActive: Activation = { groups: [], tools: [], tags: [], versions: {} }

/** Why a group is deactivated. */
export type DeactivationReason = 'requested' | 'parent' | 'dependency' | 'excluded' | 'evicted'

/** Planned transition: hooks run in this order, then `next` becomes the activation. */
export interface Plan {
  readonly next: Activation
  /** Groups to deactivate, children first, before any activation. */
  readonly off: readonly { readonly group: string; readonly because: DeactivationReason }[]
  /** Groups to activate, parents and requirements first. */
  readonly on: readonly string[]
}

/** Tokens of the tools of a group. */
export type GroupCost = (group: string) => number

/** Returns the initial activation: default groups and their requirements; nothing behind a closed gate. */
export function initialActivation(groups: Groups): Activation {
  if (groups.byName.get(gateName)?.default === false) return nothingActive
  const names = new Set(defaultGroups(groups).flatMap((name) => closureOf(groups, name)))
  return names.size === 0 ? nothingActive : { ...nothingActive, groups: [...names] }
}

const defaultGroups = ({ byName }: Groups): string[] =>
  [...byName.values()].filter((group) => group.default).map(({ name }) => name)

/** True if the group and all its ancestors are active. */
export function isActive(groups: Groups, activation: Activation, name: string): boolean {
  return activation.groups.includes(name) && ancestorsOf(groups, name).every((ancestor) => activation.groups.includes(ancestor))
}

/** Plans the activation of a group with its requirements; excluded groups and, above the quota, old groups are deactivated. */
export function planActivate(groups: Groups, activation: Activation, name: string, cost: GroupCost = () => 0): Plan {
  const group = groupOf(groups, name)
  if (group.parent !== undefined && !isActive(groups, activation, group.parent)) {
    const missing =
      [...ancestorsOf(groups, name)].reverse().find((ancestor) => !activation.groups.includes(ancestor)) ?? group.parent
    const label = (each: string): string => (each === gateName ? 'the gate' : `"${each}"`)
    throw new Failure('group_inactive', `Group "${name}" is part of ${label(group.parent)}. Activate ${label(missing)} first.`, {
      group: name,
      parent: missing,
    })
  }
  return planActivateAll(groups, activation, [name], cost)
}

/** Plans the activation of several groups with their ancestors and requirements; throws if they exclude each other. */
export function planActivateAll(
  groups: Groups,
  activation: Activation,
  names: readonly string[],
  cost: GroupCost = () => 0,
): Plan {
  // Opening the gate activates the default groups.
  const isOpening = names.includes(gateName) && !activation.groups.includes(gateName)
  const asked = isOpening ? [...names, ...defaultGroups(groups)] : names
  const wanted = [...new Set(asked.flatMap((name) => closureOf(groups, name)))]
  const pair = findConflict(groups, wanted)
  if (pair !== undefined) {
    throw new Failure(
      'conflicting_groups',
      `Groups "${pair[0]}" and "${pair[1]}" cannot be active at the same time. Choose one.`,
      { groups: pair },
    )
  }
  const off = new Map<string, DeactivationReason>()
  for (const name of wanted) {
    for (const loser of groupOf(groups, name).excludes) dropWithDependents(groups, activation, loser, 'excluded', off)
  }
  makeRoom(groups, activation, { asked: names[0] ?? '', wanted, cost }, off)
  const on = wanted.filter((name) => !activation.groups.includes(name))
  const kept = activation.groups.filter((name) => !off.has(name) && !wanted.includes(name))
  return createPlan(groups, activation, { off, on, order: [...kept, ...wanted] })
}

/** Plans the deactivation of a group and everything that depends on it. */
export function planDeactivate(groups: Groups, activation: Activation, name: string): Plan {
  groupOf(groups, name)
  const off = new Map<string, DeactivationReason>()
  dropWithDependents(groups, activation, name, 'requested', off)
  return createPlan(groups, activation, { off, on: [], order: activation.groups.filter((group) => !off.has(group)) })
}

/** Marks a group and its requirements as most recently used. */
export function touch(groups: Groups, activation: Activation, name: string): Activation {
  if (!groups.byName.has(name) || !activation.groups.includes(name)) return activation
  // Otherwise a requirement could be evicted as old and take this group with it.
  const used = closureOf(groups, name).filter((group) => activation.groups.includes(group))
  const tail = activation.groups.slice(-used.length)
  if (used.every((group, index) => tail[index] === group)) return activation
  return { ...activation, groups: [...activation.groups.filter((group) => !used.includes(group)), ...used] }
}

/**
 * Adapts an activation to a changed declaration: drops groups that are gone or lack a requirement; of groups that exclude each other
 * now, the most recently used stays.
 */
export function reconcile(groups: Groups, activation: Activation): Activation {
  const kept = activation.groups.filter(
    (name) => groups.byName.has(name) && closureOf(groups, name).every((other) => activation.groups.includes(other)),
  )
  const possible = kept.filter((name, index) => {
    const later = kept.slice(index + 1).flatMap((other) => closureOf(groups, other))
    return closureOf(groups, name).every((part) => !excludedBy(groups, part, later))
  })
  return possible.length === activation.groups.length ? activation : { ...activation, groups: possible }
}

function excludedBy(groups: Groups, name: string, others: readonly string[]): boolean {
  return others.some((other) => groups.byName.get(name)?.excludes.has(other))
}

function createPlan(
  groups: Groups,
  activation: Activation,
  { off, on, order }: { off: ReadonlyMap<string, DeactivationReason>; on: readonly string[]; order: readonly string[] },
): Plan {
  const unchanged = off.size === 0 && on.length === 0 && order.every((name, index) => activation.groups[index] === name)
  return {
    next: unchanged ? activation : { ...activation, groups: order },
    off: childrenFirst(groups, off.keys()).map((group) => ({ group, because: off.get(group) ?? 'requested' })),
    on,
  }
}

function dropWithDependents(
  groups: Groups,
  activation: Activation,
  name: string,
  because: DeactivationReason,
  off: Map<string, DeactivationReason>,
): void {
  const cause = groups.byName.get(name)
  for (const dependent of dependentClosure(groups, name)) {
    if (!activation.groups.includes(dependent) || off.has(dependent)) continue
    const below = ancestorsOf(groups, dependent).includes(cause?.name ?? '')
    off.set(dependent, dependent === name ? because : below ? 'parent' : 'dependency')
  }
}

function makeRoom(
  groups: Groups,
  activation: Activation,
  { asked, wanted, cost }: { asked: string; wanted: readonly string[]; cost: GroupCost },
  off: Map<string, DeactivationReason>,
): void {
  const { groups: max, tokens, whenFull = 'evict' } = groups.quota
  if (max === undefined && tokens === undefined) return
  const kept = (): string[] => activation.groups.filter((name) => !off.has(name) && !wanted.includes(name))
  const overflow = (names: readonly string[]): 'groups' | 'tokens' | undefined => {
    if (max !== undefined && names.filter((name) => name !== gateName).length > max) return 'groups'
    if (tokens !== undefined && names.reduce((sum, name) => sum + cost(name), 0) > tokens) return 'tokens'
    return undefined
  }
  const alone = overflow(wanted)
  if (alone !== undefined) throw quotaFull(groups, asked, alone, `needs more than that by itself`)
  for (;;) {
    const held = kept()
    const full = overflow([...held, ...wanted])
    if (full === undefined) return
    const others = held.filter((name) => name !== gateName)
    if (whenFull === 'refuse') throw quotaFull(groups, asked, full, `Deactivate one of: ${others.join(', ')}`)
    // A requirement is as recent as its dependents, so only groups without active dependents can be evicted.
    const oldest = others.find((name) =>
      dependentClosure(groups, name).every((dependent) => dependent === name || !others.includes(dependent)),
    )
    if (oldest === undefined) return
    dropWithDependents(groups, activation, oldest, 'evicted', off)
  }
}

function quotaFull(groups: Groups, group: string, what: 'groups' | 'tokens', next: string): Failure {
  const limit = groups.quota[what] ?? 0
  const quota = what === 'groups' ? `${limit} groups at a time` : `${limit} tokens of active tools`
  const message = next.startsWith('Deactivate')
    ? `Group "${group}" does not fit: this server allows ${quota}. ${next}.`
    : `Group "${group}" cannot be activated: this server allows ${quota}, and the group ${next}.`
  return new Failure('quota_full', message, { group, limit, what })
}
