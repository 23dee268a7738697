import { type Facts, gateName, nearest, nearestHint, type Tool } from '@unfold-mcp/core'
import type { AdoptedServer } from './adoption/adopted-server.ts'
import type { AdoptionRules } from './adoption/tools.ts'
import type { ConnectingClient } from './catalog/scoped-server.ts'
import { changeFor, isActiveFor, toolListChanged } from './runtime/activation.ts'
import { addSource, createRuntime, type Runtime } from './runtime/runtime.ts'
import { type principalType, servable } from './runtime/servable.ts'
import { declared, type Keys } from './tool/declared.ts'
import type { Source, ToolEntry } from './tool/entry.ts'
import type { Principal } from './tool/principal.ts'
import { declarationOf } from './toolbox-declaration.ts'
import { type GroupsOf, type ToolboxOptions, toolboxKeys } from './toolbox-options.ts'

/** Options of an adopted server, which brings its own name, instructions and tools. */
export interface AdoptOptions<Name extends string, F extends Facts = Facts, P extends Principal = Principal>
  extends Omit<ToolboxOptions<GroupsOf<Name>, F, P>, 'name' | 'version' | 'title' | 'icons' | 'websiteUrl' | 'instructions'> {
  /** The group of each tool. Tools without a group are always listed, or behind the gate. */
  readonly assign?: { readonly [tool: string]: NoInfer<Name> } | ((tool: Tool) => NoInfer<Name> | undefined)
  /** Tools that are listed before the gate is opened. */
  readonly always?: readonly string[]
}

const { name: _n, version: _v, title: _t, icons: _i, websiteUrl: _w, instructions: _s, ...sharedKeys } = toolboxKeys

const adoptKeys: Keys<AdoptOptions<string>> = { ...sharedKeys, assign: true, always: true }

export type Make = (
  connecting: ConnectingClient,
  rules: AdoptionRules,
  admit: (entry: ToolEntry) => void,
) => Promise<AdoptedServer>

// The longest delay of a timer.
const noLimitMs = 2 ** 31 - 1

const definitionsInMemory = 10_000

/** An existing server with groups. Serve it like a toolbox: with `serve`, `createHandler` or `listen`. */
export class Adopted<Name extends string = string, F extends Facts = Facts, P extends Principal = Principal> {
  readonly #runtime: Runtime
  declare readonly [principalType]?: (principal: P | undefined) => void

  constructor(given: AdoptOptions<Name, F, P>, make: Make) {
    const { assign, always, ...options } = declared('the options of an adopted server', given, adoptKeys as Keys<typeof given>)
    const declaration = declarationOf<F, P>(
      // A call may take as long as the server itself allows.
      { ...options, limits: { callTimeoutMs: noLimitMs, ...options.limits }, name: 'adopted', version: '0.0.0' },
      { scopedServer: (connecting, admit) => make(connecting, rules, admit) },
    )
    const { report, gated } = declaration
    const rules: AdoptionRules = {
      report,
      intern: definitions(),
      groupOf: groupOf(assign, always, gated),
      onTools: unmet(assign, always, report),
    }
    const runtime = createRuntime(declaration, [], (served, scope, isDiscoverable) =>
      // `make` above created it.
      (scope.scopedServer as AdoptedServer).serve(served, scope, isDiscoverable),
    )
    this.#runtime = runtime
    servable(this, () => runtime)
  }

  /** Adds a source, such as a `ToolRegistry`, for every client, and follows its changes. */
  use(source: Source): this {
    addSource(this.#runtime, source)
    return this
  }

  /** Activates a group outside of a request: for a scope, for `principal:<id>`, or for `all` connected clients. */
  activate(group: Name, scope: string): Promise<void> {
    return changeFor(this.#runtime, scope, 'activate', group)
  }

  deactivate(group: Name, scope: string): Promise<void> {
    return changeFor(this.#runtime, scope, 'deactivate', group)
  }

  /** Returns whether a group is active: for a scope, for `principal:<id>`, or without a scope for the only client over stdio. */
  isActive(group: Name, scope?: string): boolean {
    return isActiveFor(this.#runtime, group, scope)
  }

  /** Reads the server's tools and predicates again and notifies every client whose view changed. */
  toolListChanged(): void {
    toolListChanged(this.#runtime)
  }
}

type Assign = { readonly [tool: string]: string } | ((tool: Tool) => string | undefined) | undefined

function groupOf(assign: Assign, always: readonly string[] | undefined, gated: boolean): AdoptionRules['groupOf'] {
  const assigned = (tool: Tool): string | undefined => {
    if (typeof assign === 'function') return assign(tool)
    return assign !== undefined && Object.hasOwn(assign, tool.name) ? assign[tool.name] : undefined
  }
  return (tool) => assigned(tool) ?? (gated && always?.includes(tool.name) !== true ? gateName : undefined)
}

/** Reports names in `assign` and `always` that the server does not have: a misspelt tool would silently lose its group. */
function unmet(assign: Assign, always: readonly string[] = [], report: AdoptionRules['report']): AdoptionRules['onTools'] {
  const expected = [...(typeof assign === 'object' ? Object.keys(assign) : []), ...always]
  let told = false
  return (tools) => {
    if (told) return
    told = true
    const names = tools.map((tool) => tool.name)
    for (const name of expected.filter((each) => !names.includes(each))) {
      const message = `The adopted server has no tool "${name}", which "assign" or "always" names.${nearestHint(nearest(name, names))}`
      report({ reason: 'unknown_tool', message })
    }
  }
}

function definitions(): AdoptionRules['intern'] {
  const known = new Map<string, Tool>()
  return (text) => {
    const found = known.get(text)
    if (found !== undefined) return found
    if (known.size >= definitionsInMemory) known.clear()
    const made = JSON.parse(text) as Tool
    known.set(text, made)
    return made
  }
}
