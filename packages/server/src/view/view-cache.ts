import type { Activation, Groups, ViewInputs } from '@unfold-mcp/core'
import type { CatalogState } from '../catalog/catalog-state.ts'
import type { ToolEntry } from '../tool/entry.ts'
import { render } from './render.ts'
import type { RenderedView } from './rendered-view.ts'
import { RenderedViewCache } from './rendered-view-cache.ts'

/** Renders views. Equal inputs share one view. */
export class ViewCache {
  readonly #caches = new WeakMap<CatalogState, RenderedViewCache>()
  readonly #activationKeys = new WeakMap<Activation, string>()
  readonly #byInputs = new WeakMap<ViewInputs<ToolEntry>, RenderedView>()

  /** Returns the view for the given inputs. */
  get(catalogState: CatalogState, inputs: ViewInputs<ToolEntry>): RenderedView {
    const known = this.#byInputs.get(inputs)
    if (known !== undefined) return known
    const made = this.#byKey(catalogState, inputs)
    this.#byInputs.set(inputs, made)
    return made
  }

  #byKey(catalogState: CatalogState, inputs: ViewInputs<ToolEntry>): RenderedView {
    const cache = this.#cacheOf(catalogState)
    const key = this.#keyOf(catalogState, inputs)
    const found = cache.get(key)
    if (found !== undefined) return found
    const made = render(catalogState, inputs)
    cache.set(key, made)
    return made
  }

  #cacheOf(catalogState: CatalogState): RenderedViewCache {
    const found = this.#caches.get(catalogState)
    if (found !== undefined) return found
    const made = new RenderedViewCache()
    this.#caches.set(catalogState, made)
    return made
  }

  #keyOf({ catalog, groups }: CatalogState, inputs: ViewInputs<ToolEntry>): string {
    const bits = (set: ReadonlySet<ToolEntry>, among: readonly ToolEntry[]): string =>
      set.size === 0 ? '' : among.map((entry) => (set.has(entry) ? '1' : '0')).join('')
    const { exposure, surfaces, hints, readOnly } = inputs
    const done = inputs.succeeded === undefined ? '*' : [...inputs.succeeded].join()
    const modes = inputs.everyMode ? '*' : [...inputs.modes.values()].join('.')
    const marks = `${readOnly ? 'r' : ''}${hints}${inputs.activatorsAreTools === true ? 'a' : ''}`
    const flags = `${exposure} ${[...surfaces].join()} ${marks} ${done} ${modes}`
    return `${flags}|${bits(inputs.unavailable, catalog.conditional)}|${bits(inputs.forbidden, catalog.entries)}|${this.#activationKey(groups, inputs.activation)}`
  }

  // The order of groups matters only for choosing between versions, so scopes with the same groups share a view.
  #activationKey({ byName }: Groups, activation: Activation): string {
    const found = this.#activationKeys.get(activation)
    if (found !== undefined) return found
    const { groups, tools, tags, versions } = activation
    const ordered = groups.some((name) => Object.keys(byName.get(name)?.versions ?? {}).length > 0) ? groups : groups.toSorted()
    const made = JSON.stringify([ordered, tools, tags, versions])
    this.#activationKeys.set(activation, made)
    return made
  }
}
