import {
  type Activation,
  declareGroups,
  Failure,
  type Groups,
  groupOf,
  initialActivation,
  isActive,
  planActivate,
  planDeactivate,
} from '@unfold-mcp/core'
import type { GroupOptions } from './catalog/declaration.ts'
import { declaredGroups } from './catalog/group-options.ts'
import type { ToolContext } from './tool/context.ts'
import type { Declared } from './tool/declared.ts'

/**
 * Groups that are declared step by step. On its own it has one activation. As part of a server, each client has its own activation,
 * so pass the `ctx` of the call.
 */
export class ToolGroups {
  readonly #declarations: { readonly [name: string]: Declared<GroupOptions> }
  readonly #groups: Groups
  #own: Activation
  #current: (() => ToolContext | undefined) | undefined
  #outside: ((group: string) => boolean) | undefined

  constructor(declarations: { readonly [name: string]: GroupOptions } = {}) {
    this.#declarations = declaredGroups(declarations)
    this.#groups = declareGroups(this.#declarations)
    this.#own = initialActivation(this.#groups)
  }

  withGroup(name: string, description: string, more: Omit<Declared<GroupOptions>, 'description' | 'parent'> = {}): ToolGroups {
    return this.#with(name, { description, ...more })
  }

  /** Adds a group that needs `parent` to be active. */
  withChildGroup(
    name: string,
    parent: string,
    description: string,
    more: Omit<Declared<GroupOptions>, 'description' | 'parent'> = {},
  ): ToolGroups {
    return this.#with(name, { description, parent, ...more })
  }

  /** Makes groups exclusive: activating one deactivates the others. */
  withExclusion(names: readonly string[]): ToolGroups {
    const next: Record<string, Declared<GroupOptions>> = { ...this.#declarations }
    for (const name of names) {
      const declared = this.#declarations[groupOf(this.#groups, name).name]
      const others = names.filter((other) => other !== name)
      if (declared !== undefined) next[name] = { ...declared, excludes: [...new Set([...(declared.excludes ?? []), ...others])] }
    }
    return new ToolGroups(next)
  }

  async activate(name: string, ctx?: ToolContext): Promise<void> {
    const client = this.#clientOf('activate', ctx)
    if (client !== undefined) await client.activate(name)
    else this.#own = planActivate(this.#groups, this.#own, name).next
  }

  async deactivate(name: string, ctx?: ToolContext): Promise<void> {
    const client = this.#clientOf('deactivate', ctx)
    if (client !== undefined) await client.deactivate(name)
    else this.#own = planDeactivate(this.#groups, this.#own, name).next
  }

  /** Returns whether a group is active. Outside of a call this works only for a server with one client over stdio. */
  isActive(name: string, ctx?: ToolContext): boolean {
    const client = ctx ?? this.#current?.()
    if (client !== undefined) return client.isActive(name)
    return this.#outside?.(name) ?? isActive(this.#groups, this.#own, groupOf(this.#groups, name).name)
  }

  /** Binds the groups to the client whose call is running; `outside` applies elsewhere. */
  belongTo(current: () => ToolContext | undefined, outside: (group: string) => boolean): void {
    this.#current = current
    this.#outside = outside
  }

  /** Help text: every group with its description, children indented below their parents. */
  describe(): string {
    const lines: string[] = []
    const visit = (name: string, depth: number): void => {
      const description = this.#groups.byName.get(name)?.description ?? ''
      lines.push(`${'  '.repeat(depth)}${name}${description === '' ? '' : `: ${description}`}`)
      for (const child of this.#groups.children.get(name) ?? []) visit(child, depth + 1)
    }
    for (const group of this.#groups.byName.values()) if (group.parent === undefined) visit(group.name, 0)
    return lines.join('\n')
  }

  /** The declared groups, for a toolbox's `groups`. */
  get declarations(): { readonly [name: string]: Declared<GroupOptions> } {
    return this.#declarations
  }

  #clientOf(operation: string, ctx: ToolContext | undefined): ToolContext | undefined {
    const client = ctx ?? this.#current?.()
    if (client === undefined && this.#current !== undefined) {
      const message = `What is active belongs to each client, so ${operation}() needs the ctx of a call. Elsewhere use the toolbox's ${operation}(group, scope).`
      throw new Failure('no_scope', message, { operation })
    }
    return client
  }

  #with(name: string, declaration: Declared<GroupOptions>): ToolGroups {
    if (Object.hasOwn(this.#declarations, name)) {
      throw new Failure('duplicate_name', `The group "${name}" is declared twice. Rename one.`, { name, sources: ['ToolGroups'] })
    }
    return new ToolGroups({ ...this.#declarations, [name]: declaration })
  }
}
