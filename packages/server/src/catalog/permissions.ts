import { type Catalog, gateName, type Tool } from '@unfold-mcp/core'
import type { ToolEntry } from '../tool/entry.ts'
import type { Principal } from '../tool/principal.ts'
import type { Reporter } from '../tool/report.ts'

/** Where a tool stands, for deciding by group, tag or source rather than by name. */
export interface Place {
  readonly group: string | undefined
  readonly tags: readonly string[]
  readonly source: string
}

export type Permit = (principal: Principal | undefined, tool: Tool, place: Place) => boolean

/**
 * Permissions that say when they change: until then each is asked for once for every principal, which is known by its object. So
 * let `authenticate` give the same object for the same one, and call `toolListChanged` after a change for those who are connected.
 */
export interface PermitSource<P extends Principal = Principal> {
  permits(principal: P | undefined, tool: Tool, place: Place): boolean
  /** Another value whenever what is permitted may be another. */
  version(): unknown
}

/** What does not exist for whom, for as long as neither the permissions nor the tools change. */
interface Refusals {
  readonly version: unknown
  readonly catalog: Catalog<ToolEntry>
  readonly found: WeakMap<Principal, ReadonlySet<ToolEntry>>
  nobodys: ReadonlySet<ToolEntry> | undefined
}

const noEntries: ReadonlySet<ToolEntry> = new Set()

/** Which tools exist for whom. */
export class Permissions {
  readonly #permit: Permit | PermitSource | undefined
  readonly #report: Reporter
  #refusals: Refusals | undefined

  constructor(permit: Permit | PermitSource | undefined, report: Reporter) {
    this.#permit = permit
    this.#report = report
  }

  /** Whether it is known when they change. */
  get isVersioned(): boolean {
    return typeof this.#permit !== 'function'
  }

  /** Another value whenever what is permitted may be another, where that is known. */
  get version(): unknown {
    return typeof this.#permit === 'object' ? this.#permit.version() : undefined
  }

  /** What does not exist for this principal. */
  forbidden(catalog: Catalog<ToolEntry>, principal: Principal | undefined): ReadonlySet<ToolEntry> {
    const permit = this.#permit
    if (permit === undefined) return noEntries
    if (typeof permit === 'function') return this.#forbiddenNow(catalog, principal)
    const refusals = this.#refusalsOf(catalog, permit.version())
    const known = principal === undefined ? refusals.nobodys : refusals.found.get(principal)
    if (known !== undefined) return known
    const made = this.#forbiddenNow(catalog, principal)
    if (principal === undefined) refusals.nobodys = made
    else refusals.found.set(principal, made)
    return made
  }

  #refusalsOf(catalog: Catalog<ToolEntry>, version: unknown): Refusals {
    const known = this.#refusals
    if (known !== undefined && known.version === version && known.catalog === catalog) return known
    const made: Refusals = { version, catalog, nobodys: undefined, found: new WeakMap() }
    this.#refusals = made
    return made
  }

  #forbiddenNow(catalog: Catalog<ToolEntry>, principal: Principal | undefined): ReadonlySet<ToolEntry> {
    const found = catalog.entries.filter((entry) => entry.origin !== 'surface' && !this.permitted(entry, principal))
    return found.length === 0 ? noEntries : new Set(found)
  }

  /** Whether the tool exists for this principal; a check that throws says no and is reported. */
  permitted(entry: ToolEntry, principal: Principal | undefined): boolean {
    const permit = this.#permit
    if (permit === undefined) return true
    try {
      const { tool, tags, source } = entry
      const { group } = entry.visibility
      const place = { group: group === gateName ? undefined : group, tags, source }
      return (typeof permit === 'function' ? permit(principal, tool, place) : permit.permits(principal, tool, place)) === true
    } catch (error) {
      this.#report({
        reason: 'permission_check_failed',
        message: `permit() threw for tool "${entry.tool.name}"; it was not permitted.`,
        error,
      })
      return false
    }
  }
}
