import { type Activation, type Groups, initialActivation, nothingActive, planAll } from '@unfold-mcp/core'
import type { Principal } from '../principal.ts'
import type { Activations } from './activations.ts'
import { type Declaration, rememberFor, type Wished } from './declaration.ts'
import { groupCost } from './group-cost.ts'
import type { Newcomer, Product } from './product.ts'
import { Cell, type Frame, Scope } from './scope.ts'
import type { UrlView } from './url-view.ts'
import type { World } from './views.ts'

interface Surroundings {
  readonly declaration: Declaration
  readonly activations: Activations
  readonly worldOf: (scope: { readonly product: Product | undefined }) => World
}

/** How scopes begin: whose activation each reads and writes, and how it is shown the tools. */
export class Openings {
  /** How clients that do not ask otherwise are shown the tools. */
  exposure: Declaration['exposure']
  readonly #around: Surroundings
  readonly #viewActivations = new WeakMap<UrlView, { readonly groups: Groups; readonly activation: Activation }>()

  constructor(around: Surroundings) {
    this.#around = around
    this.exposure = around.declaration.exposure
  }

  /** A scope for this client. */
  open(key: string, view: UrlView, newcomer: Newcomer, product: Product | undefined): Promise<Scope> {
    return newcomer.era === 'session'
      ? this.#openSession(key, view, newcomer, product)
      : this.#openStateless(key, view, newcomer, product)
  }

  get #world(): World {
    return this.#around.worldOf({ product: undefined })
  }

  get #groups(): Groups {
    return this.#world.groups
  }

  async #openSession(key: string, view: UrlView, { principal }: Newcomer, product: Product | undefined): Promise<Scope> {
    const cost = groupCost(this.#around.worldOf({ product }))
    const wish = view.exposure ?? this.#wishFor(principal)
    const frame: Frame = { era: 'session', principal, wish, canActivate: this.#canActivate(wish), ...this.#asked(view) }
    const remember = rememberFor(this.#around.declaration, principal)
    const shares = remember === 'principal' && principal !== undefined && view.groups.length === 0
    const { groups, tags, versions } = view
    // A lazy client starts with nothing but what lets it enable tools.
    const start = wish === 'lazy' ? [] : initialActivation(this.#groups).groups
    const cell = shares
      ? await this.#around.activations.principal(principal.id, cost)
      : await this.#around.activations.session(key, { principal, start, asked: { groups, tools: [], tags, versions } }, cost)
    return new Scope(key, cell, frame, product)
  }

  async #openStateless(key: string, view: UrlView, { principal }: Newcomer, product: Product | undefined): Promise<Scope> {
    const cost = groupCost(this.#around.worldOf({ product }))
    if (principal !== undefined && rememberFor(this.#around.declaration, principal) === 'principal' && view.isEmpty) {
      return new Scope(
        key,
        await this.#around.activations.principal(principal.id, cost),
        this.principalFrame(principal, view),
        product,
      )
    }
    const shared = await this.#around.activations.shared(cost)
    const activation = view.isEmpty ? shared.activation : this.#askedFor(view, shared)
    // Named after the one that hooks ran for: no request or stream owns what they prepared, so none releases it.
    return new Scope(key, new Cell(shared.key, activation), this.#statelessFrame(principal, view), product)
  }

  // The same object for every request with this address, because what is known of an activation is kept by it.
  #askedFor(view: UrlView, shared: Cell): Activation {
    const found = this.#viewActivations.get(view)
    if (found?.groups === this.#groups) return found.activation
    const asked = planAll(this.#groups, nothingActive, view.groups).next.groups
    const groups = [...new Set([...shared.activation.groups, ...asked])]
    const made = { groups, tools: [], tags: view.tags, versions: view.versions }
    this.#viewActivations.set(view, { groups: this.#groups, activation: made })
    return made
  }

  #statelessFrame(principal: Principal | undefined, view: UrlView): Frame {
    const asked = view.exposure ?? (view.groups.length > 0 || view.tags.length > 0 ? 'groups' : undefined)
    const wished = this.#wishFor(principal)
    const declared = wished === 'groups' ? 'measured' : wished
    return { era: 'stateless', principal, wish: asked ?? declared, canActivate: false, ...this.#asked(view) }
  }

  /** How one whose activation is kept is shown on 2026-07-28. */
  principalFrame(principal: Principal, view: UrlView): Frame {
    const wish = this.#wishFor(principal)
    return { era: 'stateless', principal, wish, canActivate: this.#canActivate(wish), ...this.#asked(view) }
  }

  #asked({ readOnly, counts }: UrlView): Pick<Frame, 'readOnly' | 'counts'> {
    return { readOnly, counts: counts && this.#around.declaration.counts }
  }

  #wishFor(principal: Principal | undefined): Wished {
    return typeof this.exposure === 'function' ? this.exposure(principal) : this.exposure
  }

  #canActivate(wish: Wished): boolean {
    if (wish === 'groups')
      return this.#groups.byName.size > 0 || this.#around.declaration.after !== undefined || this.#world.catalog.awaited.size > 0
    return wish !== 'everything'
  }
}
