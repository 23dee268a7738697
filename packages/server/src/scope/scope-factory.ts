import {
  type Activation,
  type Groups,
  hostByClientName,
  hostById,
  initialActivation,
  nothingActive,
  planAll,
} from '@unfold-mcp/core'
import { type Declaration, rememberFor } from '../catalog/declaration.ts'
import { type ExposureOptions, type Presentation, presentationWith, type Wished } from '../catalog/exposure-options.ts'
import { groupCost } from '../catalog/group-cost.ts'
import type { Newcomer, Product } from '../catalog/scoped-server.ts'
import type { Principal } from '../tool/principal.ts'
import type { World } from '../view/views.ts'
import type { Activations } from './activations.ts'
import { Cell, type Frame, type Host, Scope, type Wish } from './scope.ts'
import type { UrlView } from './url-view.ts'

interface Surroundings {
  readonly declaration: Declaration
  readonly activations: Activations
  readonly worldOf: (scope: { readonly product: Product | undefined }) => World
}

/** How scopes begin: whose activation each reads and writes, and how it is shown the tools. */
export class Openings {
  /** Whether clients start lazily, where whoever started the server decided that in place of the author. */
  #lazy: boolean | undefined
  readonly #around: Surroundings
  #lastPresented: { readonly setting: Wished | ExposureOptions; readonly presentation: Presentation } | undefined
  readonly #viewActivations = new WeakMap<UrlView, { readonly groups: Groups; readonly activation: Activation }>()

  constructor(around: Surroundings) {
    this.#around = around
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

  async #openSession(key: string, view: UrlView, newcomer: Newcomer, product: Product | undefined): Promise<Scope> {
    const { principal } = newcomer
    const cost = groupCost(this.#around.worldOf({ product }))
    const presentation = this.#presentationFor(principal)
    const host = hostOf(view, presentation, newcomer)
    const wish = view.exposure ?? forHost(presentation.mode, host)
    const canActivate = this.#canActivate(wish)
    const frame: Frame = { era: 'session', principal, wish, presentation, host, canActivate, ...this.#asked(view) }
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
    const presentation = this.#presentationFor(principal)
    const declared = presentation.mode === 'groups' ? 'measured' : presentation.mode
    const host = hostOf(view, presentation)
    const wish = asked ?? forHost(declared, host)
    return { era: 'stateless', principal, wish, presentation, host, canActivate: false, ...this.#asked(view) }
  }

  /** How one whose activation is kept is shown on 2026-07-28. */
  principalFrame(principal: Principal, view: UrlView): Frame {
    const presentation = this.#presentationFor(principal)
    const host = hostOf(view, presentation)
    const wish = forHost(presentation.mode, host)
    return { era: 'stateless', principal, wish, presentation, host, canActivate: this.#canActivate(wish), ...this.#asked(view) }
  }

  #asked({ readOnly, counts }: UrlView): Pick<Frame, 'readOnly' | 'counts'> {
    return { readOnly, counts: counts && this.#around.declaration.counts }
  }

  /** Switches lazy mode on or off for clients that do not ask otherwise. */
  setLazy(lazy: boolean): void {
    this.#lazy = lazy
  }

  #presentationFor(principal: Principal | undefined): Presentation {
    const { presentation, exposureFor } = this.#around.declaration
    const made = exposureFor === undefined ? presentation : this.#presented(exposureFor(principal))
    if (this.#lazy === true) return { ...made, mode: 'lazy' }
    return this.#lazy === false && made.mode === 'lazy' ? { ...made, mode: 'groups' } : made
  }

  // Asked for with every request of 2026-07-28, and nearly always with the same setting.
  #presented(setting: Wished | ExposureOptions): Presentation {
    if (this.#lastPresented?.setting !== setting)
      this.#lastPresented = { setting, presentation: presentationWith(this.#around.declaration.presentation, setting) }
    return this.#lastPresented.presentation
  }

  #canActivate(wish: Wished): boolean {
    if (wish === 'groups')
      return this.#groups.byName.size > 0 || this.#around.declaration.after !== undefined || this.#world.catalog.awaited.size > 0
    return wish !== 'everything' && wish !== 'native'
  }
}

/** The host of a client. On 2026-07-28 the name of a client must not change what it gets, so only the address and the configuration count. */
function hostOf(view: UrlView, { host: configured }: Presentation, newcomer?: Newcomer): Host | undefined {
  const asked = view.host === undefined ? undefined : hostById(view.host)
  if (asked !== undefined) return { profile: asked, from: 'address' }
  if (configured !== undefined) return { profile: configured, from: 'configuration' }
  const name = newcomer?.client?.clientInfo.name
  const profile = name === undefined ? undefined : hostByClientName(name)
  return profile === undefined ? undefined : { profile, from: 'client' }
}

/**
 * What `auto` means for a host that defers every tool itself. An address that asks for `auto` comes from someone who has made the
 * host load these tools at once.
 */
function forHost<W extends Wish>(wish: W, host: Frame['host']): W | 'native' {
  return (wish === 'auto' || wish === 'measured') && host?.profile.defers === 'always' ? 'native' : wish
}
