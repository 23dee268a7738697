import {
  type Activation,
  Failure,
  type Groups,
  hostByClientName,
  hostById,
  initialActivation,
  nothingActive,
  planActivateAll,
} from '@unfold-mcp/core'
import type { CatalogBuilder } from '../catalog/catalog-builder.ts'
import type { CatalogState } from '../catalog/catalog-state.ts'
import { type Declaration, rememberFor } from '../catalog/declaration.ts'
import { type ExposureMode, type ExposureOptions, type ExposureSettings, withExposure } from '../catalog/exposure-options.ts'
import { groupCost } from '../catalog/group-cost.ts'
import type { ConnectingClient, ScopedServer } from '../catalog/scoped-server.ts'
import type { Principal } from '../tool/principal.ts'
import type { Activations } from './activations.ts'
import { ActivationState, type ExposurePreference, type Host, Scope, type ScopeSettings } from './scope.ts'
import type { UrlView } from './url-view.ts'

interface Parts {
  readonly declaration: Declaration
  readonly activations: Activations
  readonly catalogs: CatalogBuilder
}

/** Creates scopes: decides whose activation each one uses and how its client is shown the tools. */
export class ScopeFactory {
  /** Overrides the author's choice of lazy mode; set by `serve`. */
  #lazy: boolean | undefined
  readonly #parts: Parts
  #lastExposure: { readonly setting: ExposureMode | ExposureOptions; readonly exposureSettings: ExposureSettings } | undefined
  readonly #viewActivations = new WeakMap<UrlView, { readonly groups: Groups; readonly activation: Activation }>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  open(key: string, view: UrlView, client: ConnectingClient, scopedServer: ScopedServer | undefined): Promise<Scope> {
    if (view.exposure === 'code' && this.#parts.declaration.code === undefined) throw noScripts()
    return client.era === 'session'
      ? this.#openSession(key, view, client, scopedServer)
      : this.#openStateless(key, view, client, scopedServer)
  }

  get #catalogState(): CatalogState {
    return this.#parts.catalogs.current
  }

  get #groups(): Groups {
    return this.#catalogState.groups
  }

  async #openSession(
    key: string,
    view: UrlView,
    client: ConnectingClient,
    scopedServer: ScopedServer | undefined,
  ): Promise<Scope> {
    const { principal, share } = client
    const cost = groupCost(this.#parts.catalogs.of({ scopedServer }))
    const exposureSettings = this.#exposureFor(principal)
    const host = hostOf(view, exposureSettings, client)
    const preference = view.exposure ?? forHost(exposureSettings.mode, host)
    const canActivate = this.#canActivate(preference)
    const exposed = { preference, exposureSettings, host, canActivate }
    const settings = this.#settings({ era: 'session', principal, share }, view, exposed)
    const remember = rememberFor(this.#parts.declaration, principal)
    const shares = remember === 'principal' && principal !== undefined && view.groups.length === 0
    const { groups, tags, versions } = view
    // A lazy client starts with manage_tools only.
    const start = preference === 'lazy' ? [] : initialActivation(this.#groups).groups
    const state = shares
      ? await this.#parts.activations.principal(principal.id, cost)
      : await this.#parts.activations.session(key, { principal, start, asked: { groups, tools: [], tags, versions } }, cost)
    return new Scope(key, state, settings, scopedServer)
  }

  async #openStateless(
    key: string,
    view: UrlView,
    { principal, share }: ConnectingClient,
    scopedServer: ScopedServer | undefined,
  ): Promise<Scope> {
    const cost = groupCost(this.#parts.catalogs.of({ scopedServer }))
    if (principal !== undefined && rememberFor(this.#parts.declaration, principal) === 'principal' && view.isEmpty) {
      return new Scope(
        key,
        await this.#parts.activations.principal(principal.id, cost),
        this.principalSettings(principal, view, share),
        scopedServer,
      )
    }
    const shared = await this.#parts.activations.shared(cost)
    const activation = view.isEmpty ? shared.activation : this.#askedFor(view, shared)
    // The key is that of the activation that hooks ran for: no request owns what they prepared, so none releases it.
    return new Scope(
      key,
      new ActivationState(shared.key, activation),
      this.#statelessSettings(principal, view, share),
      scopedServer,
    )
  }

  // Always the same object for the same URL, because caches are keyed by it.
  #askedFor(view: UrlView, shared: ActivationState): Activation {
    const found = this.#viewActivations.get(view)
    if (found?.groups === this.#groups) return found.activation
    const asked = planActivateAll(this.#groups, nothingActive, view.groups).next.groups
    const groups = [...new Set([...shared.activation.groups, ...asked])]
    const made = { groups, tools: [], tags: view.tags, versions: view.versions }
    this.#viewActivations.set(view, { groups: this.#groups, activation: made })
    return made
  }

  #statelessSettings(principal: Principal | undefined, view: UrlView, share: string | undefined): ScopeSettings {
    const asked = view.exposure ?? (view.groups.length > 0 || view.tags.length > 0 ? 'groups' : undefined)
    const exposureSettings = this.#exposureFor(principal)
    const declared = exposureSettings.mode === 'groups' ? 'measured' : exposureSettings.mode
    const host = hostOf(view, exposureSettings)
    const preference = asked ?? forHost(declared, host)
    return this.#settings({ era: 'stateless', principal, share }, view, {
      preference,
      exposureSettings,
      host,
      canActivate: false,
    })
  }

  /** The settings of a principal whose activation is stored, on 2026-07-28. */
  principalSettings(principal: Principal, view: UrlView, share?: string): ScopeSettings {
    const exposureSettings = this.#exposureFor(principal)
    const host = hostOf(view, exposureSettings)
    const preference = forHost(exposureSettings.mode, host)
    const canActivate = this.#canActivate(preference)
    return this.#settings({ era: 'stateless', principal, share }, view, { preference, exposureSettings, host, canActivate })
  }

  #settings(
    client: Pick<ScopeSettings, 'era' | 'principal' | 'share'>,
    { readOnly, counts }: UrlView,
    exposed: Pick<ScopeSettings, 'preference' | 'exposureSettings' | 'host' | 'canActivate'>,
  ): ScopeSettings {
    return { ...client, ...exposed, readOnly, counts: counts && this.#parts.declaration.counts }
  }

  /** Switches lazy mode on or off for clients that do not request an exposure. */
  setLazy(lazy: boolean): void {
    this.#lazy = lazy
  }

  #exposureFor(principal: Principal | undefined): ExposureSettings {
    const { exposureSettings, exposureFor } = this.#parts.declaration
    const made = exposureFor === undefined ? exposureSettings : this.#exposureWith(exposureFor(principal))
    if (this.#lazy === true) return { ...made, mode: 'lazy' }
    return this.#lazy === false && made.mode === 'lazy' ? { ...made, mode: 'groups' } : made
  }

  // Needed for every 2026-07-28 request, and almost always the same setting.
  #exposureWith(setting: ExposureMode | ExposureOptions): ExposureSettings {
    if (this.#lastExposure?.setting !== setting)
      this.#lastExposure = { setting, exposureSettings: withExposure(this.#parts.declaration.exposureSettings, setting) }
    return this.#lastExposure.exposureSettings
  }

  #canActivate(preference: ExposureMode): boolean {
    if (preference === 'groups')
      return (
        this.#groups.byName.size > 0 || this.#parts.declaration.after !== undefined || this.#catalogState.catalog.awaited.size > 0
      )
    return preference !== 'everything' && preference !== 'native'
  }
}

function noScripts(): Failure {
  const message = 'The URL requests exposure=code, and scripts are turned off on this server. Use exposure=search.'
  return new Failure('invalid_view', message, { parameter: 'exposure', value: 'code', nearest: ['search'] })
}

/** On 2026-07-28 the client's name must not change its list, so only its URL and the configuration count. */
function hostOf(view: UrlView, { host: configured }: ExposureSettings, client?: ConnectingClient): Host | undefined {
  const asked = view.host === undefined ? undefined : hostById(view.host)
  if (asked !== undefined) return { profile: asked, from: 'address' }
  if (configured !== undefined) return { profile: configured, from: 'configuration' }
  const name = client?.client?.clientInfo.name
  const profile = name === undefined ? undefined : hostByClientName(name)
  return profile === undefined ? undefined : { profile, from: 'client' }
}

/**
 * Resolves `auto` for a host that defers every tool itself. A URL that requests `auto` comes from someone who has made the host
 * load these tools at once.
 */
function forHost<W extends ExposurePreference>(preference: W, host: ScopeSettings['host']): W | 'native' {
  return (preference === 'auto' || preference === 'measured') && host?.profile.defers === 'always' ? 'native' : preference
}
