import { type Catalog, gateName, type Tool } from '@unfold-mcp/core'
import type { ToolEntry } from '../tool/entry.ts'
import type { Principal } from '../tool/principal.ts'
import type { Reporter } from '../tool/report.ts'

/** The group, tags and source of a tool, for decisions that do not depend on its name. */
export interface Place {
  readonly group: string | undefined
  readonly tags: readonly string[]
  readonly source: string
}

export type Permit = (principal: Principal | undefined, tool: Tool, place: Place) => boolean

/**
 * Permissions with a version: until it changes, each tool is checked once per principal object. Let `authenticate` return the same
 * object for the same principal, and call `toolListChanged` after a change to notify connected clients.
 */
export interface PermitSource<P extends Principal = Principal> {
  permits(principal: P | undefined, tool: Tool, place: Place): boolean
  /** Must change whenever permissions may have changed. */
  version(): unknown
}

/** Forbidden tools by principal, for one version of permissions and catalogue. */
interface Refusals {
  readonly version: unknown
  readonly catalog: Catalog<ToolEntry>
  readonly byPrincipal: WeakMap<Principal, ReadonlySet<ToolEntry>>
  anonymous: ReadonlySet<ToolEntry> | undefined
}

const noEntries: ReadonlySet<ToolEntry> = new Set()

export class Permissions {
  readonly #permit: Permit | PermitSource | undefined
  readonly #report: Reporter
  #refusals: Refusals | undefined

  constructor(permit: Permit | PermitSource | undefined, report: Reporter) {
    this.#permit = permit
    this.#report = report
  }

  get isVersioned(): boolean {
    return typeof this.#permit !== 'function'
  }

  get version(): unknown {
    return typeof this.#permit === 'object' ? this.#permit.version() : undefined
  }

  /** Returns the tools that do not exist for this principal. */
  forbidden(catalog: Catalog<ToolEntry>, principal: Principal | undefined): ReadonlySet<ToolEntry> {
    const permit = this.#permit
    if (permit === undefined) return noEntries
    if (typeof permit === 'function') return this.#forbiddenNow(catalog, principal)
    const refusals = this.#refusalsOf(catalog, permit.version())
    const known = principal === undefined ? refusals.anonymous : refusals.byPrincipal.get(principal)
    if (known !== undefined) return known
    const made = this.#forbiddenNow(catalog, principal)
    if (principal === undefined) refusals.anonymous = made
    else refusals.byPrincipal.set(principal, made)
    return made
  }

  #refusalsOf(catalog: Catalog<ToolEntry>, version: unknown): Refusals {
    const known = this.#refusals
    if (known !== undefined && known.version === version && known.catalog === catalog) return known
    const made: Refusals = { version, catalog, anonymous: undefined, byPrincipal: new WeakMap() }
    this.#refusals = made
    return made
  }

  #forbiddenNow(catalog: Catalog<ToolEntry>, principal: Principal | undefined): ReadonlySet<ToolEntry> {
    const found = catalog.entries.filter((entry) => entry.origin !== 'surface' && !this.permitted(entry, principal))
    return found.length === 0 ? noEntries : new Set(found)
  }

  /** Returns whether the tool exists for this principal. A check that throws is reported and counts as no. */
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
