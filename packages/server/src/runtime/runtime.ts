import {
  type Activation,
  Failure,
  type GroupCost,
  type Groups,
  gateName,
  groupOf,
  initialActivation,
  isActive,
  isFailure,
  type JsonSchema,
  type Plan,
  pageOf,
  planActivate,
  planAll,
  planDeactivate,
  reasons,
  reconcile,
  surfaceNames,
  type Tool,
  touch,
} from '@unfold-mcp/core'
import { aboutOf, activatorName, type Reader } from '../catalog/activators.ts'
import { Worlds } from '../catalog/catalog-builder.ts'
import { type Declaration, mayShare, rememberFor } from '../catalog/declaration.ts'
import { groupCost } from '../catalog/group-cost.ts'
import { Permissions } from '../catalog/permissions.ts'
import type { Newcomer, Product } from '../catalog/scoped-server.ts'
import type { Openable } from '../operations/calling/transition-reply.ts'
import { Activations } from '../scope/activations.ts'
import { Scope } from '../scope/scope.ts'
import { Openings } from '../scope/scope-factory.ts'
import { emptyView, type UrlView } from '../scope/url-view.ts'
import { Finder } from '../search/finder.ts'
import { type Found, ToolSearch, type WordSearch } from '../search/tool-index.ts'
import type { Source, ToolEntry } from '../tool/entry.ts'
import type { Principal } from '../tool/principal.ts'
import { fixedTransition, noTransition, type Transition, transitionOf } from '../tool/transition.ts'
import { Announcer } from '../view/announcer.ts'
import { type Delta, Identities } from '../view/identities.ts'
import { readerOf, Views, type World } from '../view/views.ts'
import { reachOf } from './discoverable.ts'

/** A group as it stands for one scope. */
export interface GroupStatus {
  readonly name: string
  readonly about: string
  readonly active: boolean
  readonly parent: string | undefined
  readonly activator: string
  readonly toolCount: number
}

export interface OpenScope extends Newcomer {
  /** Unique among open scopes, such as `session:6f1…`. */
  readonly key: string
  readonly view?: UrlView | undefined
}

/** Where to look, and how long to. */
interface SearchAmong {
  readonly among: readonly ToolEntry[]
  readonly limit: number
  readonly signal?: AbortSignal | undefined
}

const requestScope = 'request'

/** Whose lists are remembered together: those of one who is known, else those of one session, else of all who are not. */
const readerKey = ({ frame, key }: Scope): string =>
  frame.principal !== undefined ? `principal:${frame.principal.id}` : frame.era === 'stateless' ? '' : key

// A client that lists again does so within moments; many wait a third of a second for further changes first.
const patienceMs = 1_000

/** One served toolbox: its catalogue, whose activation is what, and who must be told. */
export class Runtime {
  readonly declaration: Declaration
  readonly views: Views
  readonly announcer: Announcer
  readonly identities: Identities
  /** Where it is said how each client is shown the tools, and why. */
  log: ((line: string) => void) | undefined
  /** How long the reply to an activation waits for the client to list again. */
  relistTimeoutMs: number
  readonly #permissions: Permissions
  readonly #worlds: Worlds
  readonly #scopes = new Set<Scope>()
  readonly #goodViews = new WeakMap<UrlView, World>()
  readonly #openings: Openings
  readonly #activations: Activations
  readonly #groupTools = new WeakMap<object, readonly (readonly [string, readonly Tool[]])[]>()
  readonly #search = new ToolSearch()
  readonly #searches = new WeakMap<object, ToolSearch>()
  readonly #finder: Finder
  #unsubscribe: () => void = () => undefined
  #adoptedName: string | undefined
  /** The connections over standard input and output whose clients have not sent anything yet. */
  readonly #expected = new Set<object>()

  constructor(declaration: Declaration, sources: readonly Source[]) {
    this.declaration = declaration
    this.relistTimeoutMs = declaration.relistTimeoutMs
    this.#activations = new Activations(declaration, () => this.#groups)
    this.#openings = new Openings({ declaration, activations: this.#activations, worldOf: (scope) => this.worldOf(scope) })
    this.#permissions = new Permissions(declaration.permit, declaration.report)
    this.views = new Views({
      world: (scope) => this.worldOf(scope),
      facts: declaration.facts,
      permissions: this.#permissions,
      report: declaration.report,
    })
    this.announcer = new Announcer((scope) => this.views.shown(scope).fingerprint, declaration.now)
    this.identities = new Identities(declaration.identity === 'names' ? 'names' : 'definitions')
    const { search: settings, now, report } = declaration
    this.#finder = new Finder({ settings, now, report })
    this.#worlds = new Worlds(declaration, sources)
    for (const source of sources) this.addSource(source)
    if (typeof declaration.facts === 'object') {
      const { noticeEveryMs } = declaration
      this.#unsubscribe = declaration.facts.subscribe(() => this.announcer.tellPaced(noticeEveryMs))
    }
  }

  /** The groups there are now: what was declared, and what sources bring. */
  get #groups(): Groups {
    return this.world.groups
  }

  /** What the views of all scopes are computed from now. */
  get world(): World {
    return this.#worlds.current
  }

  /** The same for one scope: with the tools of the server that was made for it, if one was. */
  worldOf(scope: { readonly product: Product | undefined }): World {
    return this.#worlds.of(scope)
  }

  /** Takes in the entries of a source and follows its changes. */
  addSource(source: Source): void {
    this.#worlds.add(source, () => this.announcer.tellSoon())
  }

  /** Opens a scope that lives until it is closed. */
  async open({ key, view = emptyView, ...newcomer }: OpenScope): Promise<Scope> {
    const scope = await this.#begin(key, view, newcomer)
    this.#scopes.add(scope)
    scope.cell.scopes.add(scope)
    scope.product?.subscribe(() => this.announcer.tellSoon([scope]))
    const { exposure, reason, tokens } = this.views.decision(scope)
    if (tokens !== undefined) this.log?.(`${scope.key}: exposure ${exposure}, because ${reason}.`)
    return scope
  }

  /** A scope for one request that keeps nothing. */
  glimpse(view: UrlView, newcomer: Omit<Newcomer, 'era'>): Promise<Scope> {
    return this.#begin(requestScope, view, { ...newcomer, era: 'stateless' })
  }

  /** Finds out whether what was declared can be served, for whoever starts it to hear now rather than a client. */
  async rehearse(view: UrlView = emptyView, principal?: Principal): Promise<void> {
    this.#worlds.check()
    const product = await this.#productFor(view, { era: 'session', principal })
    this.#adoptedName = product?.info.name
    await product?.close()
  }

  /** What the server is called: an adopted one by its own name, which is known once it was made. */
  get name(): string {
    return this.#adoptedName ?? this.declaration.info.name
  }

  async close(scope: Scope): Promise<void> {
    this.announcer.detach(scope)
    this.#scopes.delete(scope)
    scope.cell.scopes.delete(scope)
    if (readerKey(scope) === scope.key) this.identities.forget(scope.key)
    await scope.product?.close()
    if (scope.cell.key === scope.key) await this.#activations.release(scope.cell)
  }

  list(scope: Scope, cursor?: string): { tools: Tool[]; nextCursor?: string } {
    this.listed(scope)
    const shown = this.views.listed(scope)
    const { items, nextCursor } = pageOf(shown.tools, this.declaration.pageSize, shown.fingerprint, cursor)
    return { tools: items as Tool[], ...(nextCursor !== undefined && { nextCursor }) }
  }

  /** The identity of what this scope is shown now; none where identity is switched off. */
  identity(scope: Scope): string | undefined {
    return this.declaration.identity === false ? undefined : this.identities.of(this.views.shown(scope))
  }

  /** The same for a list that is being given, which is remembered to tell later what has changed since. */
  identityOfList(scope: Scope): string | undefined {
    if (this.declaration.identity === false) return undefined
    const shown = this.views.shown(scope)
    const identity = this.identities.of(shown)
    this.identities.remember(readerKey(scope), identity, shown.tools)
    return identity
  }

  /** What changed for this scope since its list had that identity; nothing when that list is not remembered. */
  changesSince(scope: Scope, identity: string): Delta | undefined {
    return this.identities.since(readerKey(scope), identity, this.views.shown(scope).tools)
  }

  /** The tools of each group that has something for this scope. */
  groupTools(scope: Scope): readonly (readonly [string, readonly Tool[]])[] {
    const { entries } = reachOf(this, scope)
    const found = this.#groupTools.get(entries)
    if (found !== undefined) return found
    const made = this.groups(scope).map(
      ({ name }) => [name, entries.filter(({ visibility }) => visibility.group === name).map(({ tool }) => tool)] as const,
    )
    this.#groupTools.set(entries, made)
    return made
  }

  /** What decides about this scope's list beside the tools. */
  stateOf(scope: Scope): { readonly [part: string]: unknown } {
    const { groups, tools, tags, versions } = scope.cell.activation
    const { facts } = this.views.snapshot(scope)
    return {
      groups: groups.toSorted(),
      tools: tools.toSorted(),
      tags: tags.toSorted(),
      versions,
      succeeded: [...scope.succeeded].sort(),
      facts,
    }
  }

  /** Notes that the client listed its tools: it follows changes, and replies that wait for that go out. */
  listed(scope: Scope): void {
    scope.toldAt = undefined
    for (const relisted of scope.relisted) relisted()
    if (!scope.neverRelists) return
    scope.neverRelists = false
    // It reads the list that it has from now on, so there is nothing to tell it of.
    this.announcer.known(scope)
  }

  /**
   * Waits until the client has listed its tools again after a notification, so that its model can call the new tools in its next
   * turn. Gives up after `relistTimeoutMs`, and then does not wait for this client again. Does not wait for hosts that re-list
   * too late or never.
   */
  async relisted(scope: Scope): Promise<void> {
    const { relistTimeoutMs } = this
    // A client that has listed since it was notified did so while the notification was being sent.
    if (scope.toldAt === undefined || !scope.awaitsRelist || scope.missesChanges || relistTimeoutMs === 0) return
    scope.awaitsRelist = await new Promise<boolean>((resolve) => {
      const end = (hasListed: boolean): void => {
        clearTimeout(timer)
        scope.relisted.delete(listed)
        resolve(hasListed)
      }
      const listed = (): void => end(true)
      const timer = setTimeout(() => end(false), relistTimeoutMs)
      scope.relisted.add(listed)
    })
  }

  /** Switches lazy mode on or off for clients that do not ask otherwise, whatever was declared. */
  setLazy(lazy: boolean): void {
    this.#openings.setLazy(lazy)
  }

  isActive(scope: Scope, group: string): boolean {
    return this.views.snapshot(scope).isActive(groupOf(this.#groups, this.#named(group)).name)
  }

  /**
   * The same from outside a call: for a scope, or without one for the only client of a server over standard input and output, even before
   * it has connected. For a principal, whether the group is active in all its sessions. `asked` and `box` are how the caller asked and what
   * it calls the toolbox, for the message where a scope is needed.
   */
  isActiveFor(group: string, target?: string, { asked = 'isActive()', box = 'toolbox' } = {}): boolean {
    const { name } = groupOf(this.#groups, this.#named(group))
    if (target !== undefined) {
      const scopes = this.#openScopes(target)
      if (scopes.length === 0) throw this.#unknownScope(target)
      return scopes.every((scope) => this.isActive(scope, name))
    }
    const [only, ...others] = this.#scopes
    if (only === undefined && this.#expected.size === 1) return isActive(this.#groups, initialActivation(this.#groups), name)
    if (only?.key.startsWith('connection:') === true && others.length === 0) return this.isActive(only, name)
    const argument = name === gateName ? 'all' : name
    const message = `What is active differs between clients, so ${asked} outside a call needs a scope: ${box}.isActive('${argument}', scope). Open scopes: ${this.#scopeList()}.`
    throw new Failure('no_scope', message, { operation: asked })
  }

  /** The one client at the other end of standard input and output will connect; call the result when it has, or never will. */
  expectConnection(): () => void {
    const connection = {}
    this.#expected.add(connection)
    return () => void this.#expected.delete(connection)
  }

  #openScopes(target: string): readonly Scope[] {
    return [...this.#scopes].filter((scope) => scope.key === target || `principal:${scope.frame.principal?.id ?? ''}` === target)
  }

  #scopeList(): string {
    return this.scopeKeys().slice(0, 10).join(', ') || 'none'
  }

  #unknownScope(scope: string): Failure {
    const message = `No client is connected as "${scope}". Open scopes: ${this.#scopeList()}.`
    return new Failure('unknown_scope', message, { scope })
  }

  activate(scope: Scope, group: string): Promise<Transition> {
    return this.#change(scope, (activation) => planActivate(this.#groups, activation, this.#named(group), this.#costFor(scope)))
  }

  /** Code outside of a class opens the gate as the group `all`, unless there is one of that name. */
  #named(group: string): string {
    return group === 'all' && this.declaration.gated && !this.#groups.byName.has(group) ? gateName : group
  }

  /** Activates groups with whatever they lie in. */
  activateAll(scope: Scope, groups: readonly string[]): Promise<Transition> {
    return this.#change(scope, (activation) => planAll(this.#groups, activation, groups, this.#costFor(scope)))
  }

  deactivate(scope: Scope, group: string): Promise<Transition> {
    return this.#change(scope, (activation) => planDeactivate(this.#groups, activation, this.#named(group)))
  }

  /** Changes which single tools are shown to a scope. */
  setTools(scope: Scope, next: (tools: readonly string[]) => readonly string[]): Promise<Transition> {
    return this.#change(scope, (activation) => ({ next: { ...activation, tools: next(activation.tools) }, on: [], off: [] }))
  }

  /** The best matches among these entries; no other has any influence. */
  search(scope: Scope, query: string, { among, ...options }: SearchAmong): Promise<Found> {
    // What is indexed is what was declared; what is found is what this scope is shown of it.
    const shown = new Map(among.map((entry) => [entry.declared ?? entry, entry]))
    const allowed = (entry: ToolEntry): boolean => shown.has(entry)
    const byWords = (rest: Omit<WordSearch, 'allowed'>): Found => {
      const found = this.#byWords(scope, query, { ...rest, allowed })
      return { ...found, matches: found.matches.map((match) => ({ ...match, entry: shown.get(match.entry) ?? match.entry })) }
    }
    return this.#finder.find({ scope, query, among, ...options, byWords })
  }

  #byWords(scope: Scope, query: string, options: WordSearch): Found {
    const { catalog } = this.worldOf(scope)
    if (scope.product === undefined) return this.#search.search(catalog, query, options)
    const search = this.#searches.get(catalog) ?? new ToolSearch()
    this.#searches.set(catalog, search)
    return search.search(catalog, query, options)
  }

  /** Whether the tools that find and call others answer this scope: not on a server that shows all it has as it is. */
  offersSurface(scope: Scope): boolean {
    const { frame } = scope
    if (this.worldOf(scope).catalog.awaited.size > 0) return true
    return this.#groups.byName.size > 0 || frame.wish === 'lazy' || frame.wish === 'search' || frame.wish === 'auto'
  }

  /** Activates or deactivates from outside a request, for one scope, a principal (`principal:<id>`), or `all`. */
  async changeFor(target: string, phase: 'activate' | 'deactivate', group: string): Promise<void> {
    groupOf(this.#groups, this.#named(group))
    // A request on 2026-07-28 has nothing of its own to change, and is gone by now.
    if (target === requestScope) return
    const scopes = await this.#scopesOf(target)
    const cells = new Map(scopes.map((scope) => [scope.cell, scope]))
    const outcomes = await Promise.allSettled([...cells.values()].map((scope) => this[phase](scope, group)))
    // Where one of many fails the others have changed all the same, and must hear of it.
    this.announcer.tellSoon(scopes)
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  }

  /** Reads predicates again; whoever's view changed is told. */
  toolListChanged(): void {
    for (const { product } of this.#scopes) product?.refresh()
    this.views.readAgain()
    this.announcer.tellSoon()
  }

  scopeKeys(): readonly string[] {
    return [...this.#scopes].map((scope) => scope.key)
  }

  /** The groups that can be opened because of this transition: children of what was activated. */
  openable(scope: Scope, { activated, gateOpened = false }: Transition): readonly Openable[] {
    return [...(gateOpened ? [gateName] : []), ...activated]
      .flatMap((name) => this.#groups.children.get(name) ?? [])
      .filter((name) => !this.isActive(scope, name) && this.reader(scope).groups.has(name))
      .map((group) => ({
        group,
        activator: activatorName(this.worldOf(scope).surface, group),
        about: aboutOf(this.#groups, groupOf(this.#groups, group), this.reader(scope)),
      }))
  }

  /** What this scope may know of. */
  reader(scope: Scope): Reader {
    return readerOf(this.worldOf(scope), this.views.look(scope))
  }

  /** Every group that has something for this scope; the gate is none to its users. */
  groups(scope: Scope): readonly GroupStatus[] {
    const { catalog, surface } = this.worldOf(scope)
    const { forbidden } = this.views.look(scope)
    const reader = this.reader(scope)
    const counted = (name: string): ToolEntry[] => (catalog.byGroup.get(name) ?? []).filter((entry) => !forbidden.has(entry))
    return [...this.#groups.byName.values()]
      .filter(({ name }) => reader.groups.has(name))
      .map((group) => ({ ...group, about: aboutOf(this.#groups, group, reader) }))
      .map(({ name, about, parent }) => ({
        name,
        about,
        parent: parent === gateName ? undefined : parent,
        active: this.isActive(scope, name),
        activator: activatorName(surface, name),
        toolCount: new Set(counted(name).map((entry) => entry.tool.name)).size,
      }))
  }

  /** The output schema that the list shows for this name. */
  outputSchemaOf(scope: Scope, name: string): JsonSchema | undefined {
    const { byName, aliases } = this.worldOf(scope).catalog
    return byName.get(aliases.get(name) ?? name)?.at(-1)?.tool.outputSchema
  }

  /** Counts the use of a tool, where search learns from it, and of its group, where a quota evicts by use. */
  used(scope: Scope, entry: ToolEntry): void {
    this.#finder.called(scope, entry)
    const { group } = entry.visibility
    const { quota } = this.#groups
    if (group === undefined || (quota.groups === undefined && quota.tokens === undefined)) return
    scope.cell.activation = touch(this.#groups, scope.cell.activation, group)
  }

  /** Notes that a tool did its work: those that wait for it are listed from now on, in this session. */
  succeeded(scope: Scope, { tool: { name } }: ToolEntry): Transition {
    const { awaited } = this.worldOf(scope).catalog
    if (scope.frame.era === 'stateless' || !awaited.has(name) || scope.succeeded.has(name)) return noTransition
    const before = this.views.shown(scope).tools
    this.#noticeSilence(scope)
    scope.succeeded = new Set([...scope.succeeded, name])
    return this.#told(scope, transitionOf([], [], before, this.views.shown(scope).tools))
  }

  /** Whether what is listed can depend on who asks; an adopted server may be made for that one. */
  get dependsOnPrincipal(): boolean {
    const { permit, product, exposureFor } = this.declaration
    return permit !== undefined || mayShare(this.declaration) || product !== undefined || exposureFor !== undefined
  }

  /** Whether the list of a stateless client can change while the server runs. */
  get canChange(): boolean {
    return mayShare(this.declaration) || this.#worlds.sourceCount > 1 || this.#hasConditions()
  }

  #hasConditions(): boolean {
    const { conditional, composite } = this.world.catalog
    return conditional.length > 0 || composite.some(({ modes }) => modes?.all.some(({ available }) => available !== undefined))
  }

  /** Refuses a view that names what this principal does not have. */
  checkView(view: UrlView, principal: Principal | undefined, product?: Product): void {
    // What an adopted server has is known once it was made for someone.
    if (product === undefined && this.declaration.product !== undefined) return
    const world = this.worldOf({ product })
    // Where everyone may have everything, an address that was good once is good until the tools change.
    if (this.#goodViews.get(view) === world) return
    view.check(world, (entry) => this.#permissions.permitted(entry, principal))
    if (this.declaration.permit === undefined) this.#goodViews.set(view, world)
  }

  /** Ends everything that hooks started; the runtime is of no use after. */
  async stop(): Promise<void> {
    this.#unsubscribe()
    this.announcer.close()
    this.#finder.close()
    this.#worlds.close()
    for (const scope of [...this.#scopes]) await this.close(scope)
    await this.#activations.stop()
  }

  async #begin(key: string, view: UrlView, newcomer: Newcomer): Promise<Scope> {
    return this.#openings.open(key, view, newcomer, await this.#productFor(view, newcomer))
  }

  async #productFor(view: UrlView, newcomer: Newcomer): Promise<Product | undefined> {
    const { product: make, report } = this.declaration
    let product: Product | undefined
    try {
      product = await make?.(newcomer, (entry) => this.#worlds.admitOwn(entry))
      this.checkView(view, newcomer.principal, product)
      return product
    } catch (error) {
      if (isFailure(error) && reasons[error.reason] === 'operator') report({ reason: error.reason, message: error.message })
      await product?.close()
      throw error
    }
  }

  #noticeSilence(scope: Scope): void {
    if (scope.toldAt !== undefined && this.declaration.now() - scope.toldAt > patienceMs) scope.neverRelists = true
  }

  /** A transition as it is told: nothing when it changed nothing, and how to call what a client will not see. */
  #told(scope: Scope, made: Transition): Transition {
    const { activated, deactivated, appeared, disappeared } = made
    const changes = activated.length + deactivated.length + appeared.length + disappeared.length
    if (changes === 0 && made.gateOpened !== true) return noTransition
    return scope.missesChanges
      ? { ...made, appeared: appeared.filter(({ name }) => !surfaceNames.has(name)), missesChanges: true }
      : made
  }

  async #change(scope: Scope, plan: (activation: Activation) => Plan): Promise<Transition> {
    if (!scope.frame.canActivate) return fixedTransition
    const shown = (): readonly Tool[] => this.views.shown(scope).tools
    let before: readonly Tool[] = []
    const planned = (activation: Activation): Plan => {
      before = shown()
      // Afterwards: a client that turns out not to list again now has tools that waited, and hears of them here.
      this.#noticeSilence(scope)
      // Groups that came with a source may have gone with it.
      return plan(reconcile(this.#groups, activation))
    }
    return this.#activations.change(scope.cell, planned, ({ on, off }) =>
      this.#told(scope, transitionOf(on, off, before, shown())),
    )
  }

  #costFor(scope: Scope): GroupCost {
    return groupCost(this.worldOf(scope), this.views.look(scope).forbidden)
  }

  async #scopesOf(target: string): Promise<readonly Scope[]> {
    if (target === 'all') return [...this.#scopes]
    const found = this.#openScopes(target)
    if (found.length > 0) return found
    const principal = target.startsWith('principal:') ? { id: target.slice('principal:'.length) } : undefined
    if (principal !== undefined && rememberFor(this.declaration, principal) === 'principal') {
      return [
        new Scope(
          target,
          await this.#activations.principal(principal.id, groupCost(this.world)),
          this.#openings.principalFrame(principal, emptyView),
        ),
      ]
    }
    throw this.#unknownScope(target)
  }
}
