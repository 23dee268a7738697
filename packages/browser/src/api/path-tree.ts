import { Endpoint } from './endpoint.ts'
import { variable } from './path.ts'

/** A place in the tree of paths. */
export interface Place {
  readonly name: string
  readonly parent: Place | undefined
  readonly children: Map<string, Place>
  endpoint?: Endpoint
  /** It had too many different children to be names: every further one is a value. */
  isOpen?: true
}

// So many siblings that answer alike are values of one variable, as the users' names in `/users/ann`.
const alikeForVariable = 8
const mostChildren = 100

/** The endpoints by their paths, the one seen longest ago first. */
export class PathTree {
  readonly #origins = new Map<string, Place>()
  readonly #endings = new Set<Place>()

  get size(): number {
    return this.#endings.size
  }

  get oldest(): Place | undefined {
    return this.#endings.values().next().value
  }

  [Symbol.iterator](): Iterator<Place> {
    return this.#endings.values()
  }

  /** The place of an address, made when it is new. */
  place(origin: string, segments: readonly string[]): Place & { endpoint: Endpoint } {
    let place: Place = this.#origins.get(origin) ?? { name: origin, parent: undefined, children: new Map() }
    this.#origins.set(origin, place)
    for (const segment of segments) {
      const name = place.isOpen === true && !place.children.has(segment) ? variable : segment
      place = childOf(place, name)
    }
    place.endpoint ??= new Endpoint()
    this.#endings.delete(place)
    this.#endings.add(place)
    return place as Place & { endpoint: Endpoint }
  }

  /** Looks whether what was learnt at a place makes its name a value of a variable. */
  settle(place: Place): void {
    const { parent } = place
    if (parent === undefined || place.name === variable) return
    const names = [...parent.children.values()].filter(({ name }) => name !== variable)
    if (names.length > mostChildren) {
      parent.isOpen = true
      this.#asVariable(parent, names)
      return
    }
    const likeness = place.endpoint?.likeness
    if (likeness === undefined) return
    const isKnown = parent.children.get(variable)?.endpoint?.likeness === likeness
    const alike = isKnown ? [place] : names.filter(({ endpoint }) => endpoint?.likeness === likeness)
    if (isKnown || alike.length >= alikeForVariable) this.#asVariable(parent, alike)
  }

  remove(place: Place): void {
    this.#endings.delete(place)
    delete place.endpoint
    for (let each: Place | undefined = place; each !== undefined; each = each.parent) {
      if (each.children.size > 0 || each.endpoint !== undefined) return
      if (each.parent === undefined) this.#origins.delete(each.name)
      else each.parent.children.delete(each.name)
    }
  }

  clear(): void {
    this.#origins.clear()
    this.#endings.clear()
  }

  #asVariable(parent: Place, children: readonly Place[]): void {
    const target = childOf(parent, variable)
    for (const child of children) {
      this.#merge(child, target)
      parent.children.delete(child.name)
    }
  }

  #merge(from: Place, to: Place): void {
    if (from.endpoint !== undefined) {
      this.#endings.delete(from)
      this.#endings.delete(to)
      this.#endings.add(to)
      to.endpoint ??= new Endpoint()
      to.endpoint.absorb(from.endpoint)
    }
    for (const child of from.children.values()) this.#merge(child, childOf(to, child.name))
  }
}

/** The origin of a place, and the segments that lead to it. */
export function whereabouts(place: Place): { readonly origin: string; readonly segments: readonly string[] } {
  const segments: string[] = []
  let each = place
  for (; each.parent !== undefined; each = each.parent) segments.unshift(each.name)
  return { origin: each.name, segments }
}

function childOf(parent: Place, name: string): Place {
  const known = parent.children.get(name)
  if (known !== undefined) return known
  const child: Place = { name, parent, children: new Map() }
  parent.children.set(name, child)
  return child
}
