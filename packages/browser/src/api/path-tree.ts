import { Endpoint } from './endpoint.ts'
import { variable } from './path.ts'

/** Node of the path tree. */
export interface PathNode {
  readonly name: string
  readonly parent: PathNode | undefined
  readonly children: Map<string, PathNode>
  endpoint?: Endpoint
  /** Had too many different children: every further child is a variable. */
  isOpen?: true
}

// This many siblings with similar responses are values of one variable, like user names in `/users/ann`.
const alikeForVariable = 8
const maxChildren = 100

/** Endpoints by path, least recently used first. */
export class PathTree {
  readonly #origins = new Map<string, PathNode>()
  readonly #endings = new Set<PathNode>()

  get size(): number {
    return this.#endings.size
  }

  get oldest(): PathNode | undefined {
    return this.#endings.values().next().value
  }

  [Symbol.iterator](): Iterator<PathNode> {
    return this.#endings.values()
  }

  /** Returns the node of a URL, and creates it if necessary. */
  node(origin: string, segments: readonly string[]): PathNode & { endpoint: Endpoint } {
    let node: PathNode = this.#origins.get(origin) ?? { name: origin, parent: undefined, children: new Map() }
    this.#origins.set(origin, node)
    for (const segment of segments) {
      const name = node.isOpen === true && !node.children.has(segment) ? variable : segment
      node = childOf(node, name)
    }
    node.endpoint ??= new Endpoint()
    this.#endings.delete(node)
    this.#endings.add(node)
    return node as PathNode & { endpoint: Endpoint }
  }

  /** Merges a node into a variable if its siblings have similar responses. */
  settle(node: PathNode): void {
    const { parent } = node
    if (parent === undefined || node.name === variable) return
    const names = [...parent.children.values()].filter(({ name }) => name !== variable)
    if (names.length > maxChildren) {
      parent.isOpen = true
      this.#asVariable(parent, names)
      return
    }
    const generalizeUrl = node.endpoint?.generalizeUrl
    if (generalizeUrl === undefined) return
    const isKnown = parent.children.get(variable)?.endpoint?.generalizeUrl === generalizeUrl
    const alike = isKnown ? [node] : names.filter(({ endpoint }) => endpoint?.generalizeUrl === generalizeUrl)
    if (isKnown || alike.length >= alikeForVariable) this.#asVariable(parent, alike)
  }

  remove(node: PathNode): void {
    this.#endings.delete(node)
    delete node.endpoint
    for (let each: PathNode | undefined = node; each !== undefined; each = each.parent) {
      if (each.children.size > 0 || each.endpoint !== undefined) return
      if (each.parent === undefined) this.#origins.delete(each.name)
      else each.parent.children.delete(each.name)
    }
  }

  clear(): void {
    this.#origins.clear()
    this.#endings.clear()
  }

  #asVariable(parent: PathNode, children: readonly PathNode[]): void {
    const target = childOf(parent, variable)
    for (const child of children) {
      this.#merge(child, target)
      parent.children.delete(child.name)
    }
  }

  #merge(from: PathNode, to: PathNode): void {
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

/** Returns the origin of a node and the segments that lead to it. */
export function locationOf(node: PathNode): { readonly origin: string; readonly segments: readonly string[] } {
  const segments: string[] = []
  let each = node
  for (; each.parent !== undefined; each = each.parent) segments.unshift(each.name)
  return { origin: each.name, segments }
}

function childOf(parent: PathNode, name: string): PathNode {
  const known = parent.children.get(name)
  if (known !== undefined) return known
  const child: PathNode = { name, parent, children: new Map() }
  parent.children.set(name, child)
  return child
}
