import { Failure, isFailure, reasons } from '@unfold-mcp/core'
import type { CatalogBuilder } from '../catalog/catalog-builder.ts'
import type { CatalogState } from '../catalog/catalog-state.ts'
import { type Declaration, rememberFor } from '../catalog/declaration.ts'
import { groupCost } from '../catalog/group-cost.ts'
import type { Permissions } from '../catalog/permissions.ts'
import type { ConnectingClient, ScopedServer } from '../catalog/scoped-server.ts'
import type { Principal } from '../tool/principal.ts'
import type { Activations } from './activations.ts'
import { ephemeralKey, Scope } from './scope.ts'
import { ScopeFactory } from './scope-factory.ts'
import { emptyView, type UrlView } from './url-view.ts'

export interface OpenScope extends ConnectingClient {
  /** Unique among open scopes, such as `session:6f1…`. */
  readonly key: string
  readonly view?: UrlView | undefined
}

interface Parts {
  readonly declaration: Declaration
  readonly catalogs: CatalogBuilder
  readonly permissions: Permissions
  readonly activations: Activations
}

interface ScopeEvents {
  readonly opened: (scope: Scope) => void
  /** The tools of the server that was created for this scope changed. */
  readonly changed: (scope: Scope) => void
  readonly closed: (scope: Scope) => void
}

const maxNamedScopes = 10

/** The open scopes of a served toolbox. */
export class Scopes {
  readonly factory: ScopeFactory
  /** Logs how each client is shown the tools, and why. */
  log: ((line: string) => void) | undefined
  readonly #parts: Parts
  readonly #events: ScopeEvents
  readonly #open = new Set<Scope>()
  readonly #validViews = new WeakMap<UrlView, CatalogState>()
  /** Connections over stdio whose clients have not sent anything yet. */
  readonly #expected = new Set<object>()
  #adoptedName: string | undefined

  constructor(parts: Parts, events: ScopeEvents) {
    this.#parts = parts
    this.#events = events
    this.factory = new ScopeFactory(parts)
  }

  /** Opens a scope that lives until it is closed. */
  async open({ key, view = emptyView, ...client }: OpenScope): Promise<Scope> {
    const scope = await this.#create(key, view, client)
    this.#open.add(scope)
    scope.state.scopes.add(scope)
    scope.scopedServer?.subscribe(() => this.#events.changed(scope))
    this.#events.opened(scope)
    return scope
  }

  /** Opens a scope for one request; it is not registered and needs no closing. */
  openEphemeral(view: UrlView, client: Omit<ConnectingClient, 'era'>): Promise<Scope> {
    return this.#create(ephemeralKey, view, { ...client, era: 'stateless' })
  }

  async close(scope: Scope): Promise<void> {
    this.#open.delete(scope)
    scope.state.scopes.delete(scope)
    this.#events.closed(scope)
    await scope.scopedServer?.close()
    if (scope.state.key === scope.key) await this.#parts.activations.release(scope.state)
  }

  async closeAll(): Promise<void> {
    for (const scope of [...this.#open]) await this.close(scope)
  }

  /** Throws when the declared tools cannot be served, before a client connects. */
  async validate(view: UrlView = emptyView, principal?: Principal): Promise<void> {
    this.#parts.catalogs.check()
    const server = await this.#serverFor(view, { era: 'session', principal })
    this.#adoptedName = server?.info.name
    await server?.close()
  }

  /** The name of the server; that of an adopted one is known after `validate`. */
  get serverName(): string {
    return this.#adoptedName ?? this.#parts.declaration.info.name
  }

  /** Throws when a view names something that this principal does not have. */
  checkView(view: UrlView, principal: Principal | undefined, scopedServer?: ScopedServer): void {
    const { declaration, catalogs, permissions } = this.#parts
    // The tools of an adopted server are known only after it was created for someone.
    if (scopedServer === undefined && declaration.scopedServer !== undefined) return
    const state = catalogs.of({ scopedServer })
    // Where everyone may use everything, a view stays valid until the tools change.
    if (this.#validViews.get(view) === state) return
    view.check(state, (entry) => permissions.permitted(entry, principal))
    if (declaration.permit === undefined) this.#validViews.set(view, state)
  }

  /** Call the returned function when the client over stdio has connected, or never will. */
  expectConnection(): () => void {
    const connection = {}
    this.#expected.add(connection)
    return () => void this.#expected.delete(connection)
  }

  /** A client over stdio is about to connect, and no other is connected. */
  get isConnectionExpected(): boolean {
    return this.#open.size === 0 && this.#expected.size === 1
  }

  /** The scope of the client over stdio, if no other client is connected. */
  get onlyConnection(): Scope | undefined {
    const [only] = this.#open
    return this.#open.size === 1 && only?.key.startsWith('connection:') === true ? only : undefined
  }

  get keys(): readonly string[] {
    return [...this.#open].map((scope) => scope.key)
  }

  /** The first open scopes, for an error message. */
  get summary(): string {
    return this.keys.slice(0, maxNamedScopes).join(', ') || 'none'
  }

  /** The open scopes with this key, or of this principal (`principal:<id>`). Throws when there are none. */
  matching(target: string): readonly Scope[] {
    const found = this.#matching(target)
    if (found.length === 0) throw this.#unknownScope(target)
    return found
  }

  /** The scopes that a change is for: `all`, those that match, or the stored activation of a principal without a session. */
  async find(target: string): Promise<readonly Scope[]> {
    if (target === 'all') return [...this.#open]
    const found = this.#matching(target)
    if (found.length > 0) return found
    const { declaration, activations, catalogs } = this.#parts
    const principal = target.startsWith('principal:') ? { id: target.slice('principal:'.length) } : undefined
    if (principal === undefined || rememberFor(declaration, principal) !== 'principal') throw this.#unknownScope(target)
    const state = await activations.principal(principal.id, groupCost(catalogs.current))
    return [new Scope(target, state, this.factory.principalSettings(principal, emptyView))]
  }

  /** Has the servers that were created for single scopes list their tools again. */
  refreshServers(): void {
    for (const { scopedServer } of this.#open) scopedServer?.refresh()
  }

  #matching(target: string): readonly Scope[] {
    return [...this.#open].filter(({ key, settings }) => key === target || `principal:${settings.principal?.id ?? ''}` === target)
  }

  #unknownScope(scope: string): Failure {
    const message = `No client is connected as "${scope}". Open scopes: ${this.summary}.`
    return new Failure('unknown_scope', message, { scope })
  }

  async #create(key: string, view: UrlView, client: ConnectingClient): Promise<Scope> {
    return this.factory.open(key, view, client, await this.#serverFor(view, client))
  }

  async #serverFor(view: UrlView, client: ConnectingClient): Promise<ScopedServer | undefined> {
    const { declaration, catalogs } = this.#parts
    let server: ScopedServer | undefined
    try {
      server = await declaration.scopedServer?.(client, (entry) => catalogs.admitOwn(entry))
      this.checkView(view, client.principal, server)
      return server
    } catch (error) {
      if (isFailure(error) && reasons[error.reason] === 'operator')
        declaration.report({ reason: error.reason, message: error.message })
      await server?.close()
      throw error
    }
  }
}
