import { type DeactivationReason, gateName, type Plan, type Tool } from '@unfold-mcp/core'

/** The effect of an activation or deactivation on one scope. */
export interface Transition {
  readonly changed: boolean
  readonly activated: readonly string[]
  readonly deactivated: readonly { readonly group: string; readonly because: DeactivationReason }[]
  readonly appeared: readonly Tool[]
  readonly disappeared: readonly string[]
  /** The gate was opened; it is not a group. */
  readonly gateOpened?: boolean
  /** This client lists again too late or never, so its model will not see the change in time. */
  readonly missesChanges?: boolean
  /** A call cannot change the list of this client (2026-07-28, or `everything`), so nothing was done. */
  readonly listIsFixed?: boolean
}

export const noTransition: Transition = { changed: false, activated: [], deactivated: [], appeared: [], disappeared: [] }

export const fixedTransition: Transition = { ...noTransition, listIsFixed: true }

export function transitionOf(
  activated: Plan['on'],
  deactivated: Plan['off'],
  before: readonly Tool[],
  after: readonly Tool[],
): Transition {
  const had = new Set(before.map((tool) => tool.name))
  const has = new Set(after.map((tool) => tool.name))
  return {
    changed: true,
    activated: activated.filter((group) => group !== gateName),
    deactivated: deactivated.filter(({ group }) => group !== gateName),
    ...(activated.includes(gateName) && { gateOpened: true }),
    appeared: after.filter((tool) => !had.has(tool.name)),
    disappeared: [...had].filter((name) => !has.has(name)),
  }
}
