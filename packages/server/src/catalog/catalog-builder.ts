import {
  buildCatalog,
  checkGroupName,
  checkToolName,
  confusableNames,
  declareGroups,
  Failure,
  type GroupDeclaration,
  type Groups,
  gateName,
  groupOf,
  headerParameters,
  isFailure,
  nearest,
  nearestHint,
  surfaceNames,
  type Tool,
  toolFingerprint,
} from '@unfold-mcp/core'
import type { Source, ToolEntry } from '../tool/entry.ts'
import { errorMessage } from '../tool/report.ts'
import { groupNames, type SurfacePlan, surfaceEntries, surfaceSource } from './activators.ts'
import type { CatalogState } from './catalog-state.ts'
import type { Declaration } from './declaration.ts'
import { stableSurface } from './discovery-tools.ts'
import type { ScopedServer } from './scoped-server.ts'

/** Builds the catalogue from all sources and the generated tools, again after every change of a source. */
export class CatalogBuilder {
  readonly #declaration: Declaration
  /** Groups that the author declared. */
  readonly #declared: { readonly [name: string]: GroupDeclaration }
  #groups: Groups
  readonly #sources: Source[] = []
  /** Sources that handle the gate themselves. */
  readonly #own: ReadonlySet<Source>
  readonly #unsubscribe: (() => void)[] = []
  readonly #reportedClashes = new Set<string>()
  /** Tools that others wait for and that existed once; a registered tool may be removed again. */
  readonly #met = new Set<string>()
  readonly #ofProducts = new WeakMap<
    ScopedServer,
    { readonly entries: readonly ToolEntry[]; readonly shared: CatalogState; readonly catalogState: CatalogState }
  >()
  #current: CatalogState | undefined
  #last: CatalogState | undefined
  #version = 0

  constructor(declaration: Declaration, own: readonly Source[]) {
    this.#declaration = declaration
    this.#declared = Object.fromEntries(
      Object.entries(declaration.groups).map(([name, { hooks, ...group }]) => [name, { ...group, strict: hooks !== undefined }]),
    )
    this.#groups = declareGroups(this.#declared, declaration.quota)
    this.#own = new Set(own)
  }

  /** The catalogue of all scopes without a server of their own. */
  get current(): CatalogState {
    this.#current ??= this.#remade()
    return this.#current
  }

  /** Throws if the tools cannot be served as they are declared now. */
  check(): void {
    this.#current ??= this.#make()
    this.#last ??= this.#current
  }

  get sourceCount(): number {
    return this.#sources.length
  }

  /** The catalogue of one scope, including the tools of the server that was created for it. */
  of({ scopedServer }: { readonly scopedServer: ScopedServer | undefined }): CatalogState {
    if (scopedServer === undefined) return this.current
    const entries = scopedServer.entries()
    const shared = this.current
    const found = this.#ofProducts.get(scopedServer)
    if (found !== undefined && found.entries === entries && found.shared === shared) return found.catalogState
    const catalogState = this.#make(entries)
    this.#ofProducts.set(scopedServer, { entries, shared, catalogState })
    return catalogState
  }

  /** Adds a source and calls `changed` after each of its changes. */
  add(source: Source, changed: () => void): void {
    const groups = this.#groupsOf([...this.#sources, source])
    for (const entry of source.entries()) this.#admit(entry, groups)
    this.#groups = groups
    this.#sources.push(source)
    this.#current = undefined
    this.#unsubscribe.push(
      source.subscribe((added) => {
        if (added !== undefined) this.#admit(added, this.#groupsOf(this.#sources))
        this.#current = undefined
        changed()
      }),
    )
    changed()
  }

  /** Throws if an entry of a scope's own server cannot be served together with the others. */
  admitOwn(entry: ToolEntry): void {
    this.#admit(entry, this.#groups)
    const { name } = entry.tool
    const other = this.current.catalog.byName.get(name)?.find(({ origin }) => origin === 'static')
    if (other === undefined) return
    const sources = [entry.source, other.source]
    throw new Failure('duplicate_name', `The tool "${name}" is declared in ${sources.join(' and in ')}. Rename one.`, {
      name,
      sources,
    })
  }

  close(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
  }

  /** Merges declared groups with those of sources; declared ones win. */
  #groupsOf(sources: readonly Source[]): Groups {
    const brought = sources.flatMap((source) => Object.entries(source.groups?.() ?? {}))
    for (const [name] of brought) checkGroupName(name)
    if (brought.length === 0 && this.#groups.byName.size === Object.keys(this.#declared).length) return this.#groups
    const all = { ...this.#declared, ...Object.fromEntries(brought), ...this.#declared }
    return declareGroups(all, this.#declaration.quota)
  }

  #admit(entry: ToolEntry, groups: Groups): void {
    const { name } = entry.tool
    checkToolName(name)
    const taken = [name, ...entry.aliases].find((each) => this.#isReserved(each, entry, groups))
    if (taken !== undefined) {
      throw new Failure('reserved_name', `"${taken}" is a name of this library's own tools. Choose another name for the tool.`, {
        name: taken,
      })
    }
    for (const alias of entry.aliases) checkToolName(alias)
    checkDefinition(entry.tool)
    headerParameters(name, entry.tool.inputSchema)
    for (const group of [entry.visibility.group, entry.activates]) if (group !== undefined) groupOf(groups, group)
  }

  #isReserved(name: string, entry: ToolEntry, groups: Groups): boolean {
    const { byName } = groups
    if (surfaceNames.has(name)) return true
    if (entry.origin === 'surface' || byName.size === 0) return false
    if (name === 'activate') return byName.has(gateName)
    const names = groupNames(groups)
    return names.length > 0 && (name === 'deactivate' || names.some((group) => name === `activate_${group}`))
  }

  /** Rebuilds the catalogue. If that fails, reports it and keeps the previous one. */
  #remade(): CatalogState {
    try {
      this.#last = this.#make()
      return this.#last
    } catch (error) {
      if (this.#last === undefined) throw error
      const reason = isFailure(error) ? error.reason : 'invalid_declaration'
      this.#declaration.report({ reason, message: `The tools stay as they were. ${errorMessage(error)}`, error })
      return this.#last
    }
  }

  #make(own: readonly ToolEntry[] = []): CatalogState {
    this.#groups = this.#groupsOf(this.#sources)
    const entries = [...own.map((entry) => this.#waiting(entry)), ...this.#sources.flatMap((source) => this.#placed(source))]
    const written = entries.filter((entry) => entry.origin === 'surface')
    const surface: SurfacePlan = {
      groups: this.#groups,
      stepwise: this.#declaration.menu === 'stepwise',
      written: new Map(
        written.flatMap(({ activates, tool }) => (activates === undefined ? [] : [[activates, tool.name] as const])),
      ),
      deactivateWritten: written.some(({ tool }) => tool.name === 'deactivate'),
    }
    const all = [...menuOf(surface, written), ...stableSurface, ...entries.filter(({ origin }) => origin !== 'surface')]
    this.#checkWaiting(all)
    this.#checkActivators(written, all)
    const catalog = buildCatalog(++this.#version, all, this.#groups)
    for (const { name, winner, loser } of catalog.clashes)
      this.#reportClash(`Tool "${name}" of ${loser} is not served: ${winner} has one of that name. Rename one of them.`)
    this.#reportSimilarNames(entries)
    return { catalog, groups: this.#groups, surface }
  }

  /** Reports declared tools with names that models and people take for each other. They are served all the same. */
  #reportSimilarNames(entries: readonly ToolEntry[]): void {
    const declared = entries.filter(({ origin }) => origin === 'static')
    for (const names of confusableNames([...declared.map(({ tool }) => tool.name), ...surfaceNames]))
      this.#reportClash(`Similar tool names: ${names.slice(0, 5).join(', ')}. Rename them so that they are not confused.`)
  }

  #reportClash(message: string): void {
    if (this.#reportedClashes.has(message)) return
    this.#reportedClashes.add(message)
    this.#declaration.report({ reason: 'name_clash', message })
  }

  /** Applies the toolbox's `after` to an entry without one of its own. */
  #waiting(entry: ToolEntry): ToolEntry {
    const { after } = this.#declaration
    if (after === undefined || entry.after !== undefined || entry.tool.name === after) return entry
    return entry.pinned === true || entry.origin === 'surface' ? entry : { ...entry, after }
  }

  /** Throws for a tool that waits for an unknown one, and for a tool without `after` where others have it. */
  #checkWaiting(all: readonly ToolEntry[]): void {
    const own = all.filter(({ origin }) => origin === 'static')
    const pairs = own.flatMap(({ tool, after }) => (typeof after === 'string' ? [[tool.name, after] as const] : []))
    if (pairs.length === 0) return
    const waits = new Map(pairs)
    const awaited = new Set(pairs.map(([, after]) => after))
    const names = all.filter(({ source }) => source !== surfaceSource).map(({ tool }) => tool.name)
    for (const name of names) if (awaited.has(name)) this.#met.add(name)
    for (const [waiting, name] of pairs) {
      if (!this.#met.has(name)) {
        const message = `Tool "${waiting}" waits for "${name}", which does not exist.${nearestHint(nearest(name, names))}`
        throw new Failure('invalid_declaration', message, { what: `${waiting}.after` })
      }
      if (isCircular(waits, waiting)) {
        const message = `Tool "${waiting}" waits for "${name}", which in turn waits for it: neither would ever be listed.`
        throw new Failure('invalid_declaration', message, { what: `${waiting}.after` })
      }
    }
    const forgotten = own.find(
      ({ tool, after, pinned, visibility }) =>
        after === undefined && pinned !== true && visibility.group === undefined && !awaited.has(tool.name),
    )
    if (forgotten === undefined) return
    const { name } = forgotten.tool
    const message = `Some tools have "after", and "${name}" has not. Give it after: false to list it from the start.`
    throw new Failure('invalid_declaration', message, { what: `${name}.after` })
  }

  /** Throws for an activator without anything to activate, which would never be listed. */
  #checkActivators(written: readonly ToolEntry[], all: readonly ToolEntry[]): void {
    const [first] = written
    if (first === undefined || this.#groups.byName.size > 0 || this.#declaration.after !== undefined) return
    // Groups may come with a source later, and tools with `after` are activated too.
    if (this.#sources.some((source) => source.groups !== undefined) || all.some(({ after }) => typeof after === 'string')) return
    const { name } = first.tool
    const message = `Tool "${name}" is declared with activator: true, but the toolbox has neither groups nor a gate to activate. Declare "groups" or "gate", or remove "activator".`
    throw new Failure('invalid_declaration', message, { what: `${name}.activator` })
  }

  /** The entries of a source. Sources that do not know about the gate are behind it. */
  #placed(source: Source): readonly ToolEntry[] {
    const entries = source.entries().map((entry) => this.#waiting(entry))
    if (!this.#declaration.gated || this.#own.has(source)) return entries
    return entries.map((entry) => (entry.origin === 'surface' ? activatorBehindGate(entry) : behindGate(entry)))
  }
}

function behindGate(entry: ToolEntry): ToolEntry {
  if (entry.visibility.group !== undefined || entry.pinned === true) return entry
  return { ...entry, visibility: { ...entry.visibility, group: gateName } }
}

/** An activator without a group opens the gate; all others are listed once it is open. */
function activatorBehindGate(entry: ToolEntry): ToolEntry {
  if (entry.activates === undefined && entry.tool.name !== 'deactivate') return { ...entry, activates: gateName }
  return { ...entry, within: gateName }
}

function isCircular(waits: ReadonlyMap<string, string>, start: string): boolean {
  const passed = new Set<string>()
  for (let name = waits.get(start); name !== undefined && !passed.has(name); name = waits.get(name)) {
    if (name === start) return true
    passed.add(name)
  }
  return false
}

/** Throws for a definition that JSON cannot represent; a list with it could not be sent to anyone. */
function checkDefinition(tool: Tool): void {
  const refuse = (problem: string, cause?: unknown): never => {
    throw new Failure('invalid_schema', `Tool "${tool.name}": ${problem}.`, { tool: tool.name, problem }, { cause })
  }
  for (const what of ['title', 'description'] as const)
    if (tool[what] !== undefined && typeof tool[what] !== 'string') refuse(`its ${what} is not a string`)
  try {
    toolFingerprint(tool)
    JSON.stringify(tool._meta)
  } catch (error) {
    refuse(`JSON cannot represent its definition (${errorMessage(error)})`, error)
  }
}

/** Activators in the order of their groups, then those without a group. */
function menuOf(surface: SurfacePlan, written: readonly ToolEntry[]): readonly ToolEntry[] {
  const order = [...surface.groups.byName.keys()]
  const place = ({ activates }: ToolEntry): number => (activates === undefined ? order.length : order.indexOf(activates))
  return [...written, ...surfaceEntries(surface)].toSorted((a, b) => place(a) - place(b))
}
