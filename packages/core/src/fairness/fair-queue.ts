import type { SharePath } from './shares.ts'

interface Branch<T> {
  /** In the order of their turns: the next one is first. */
  readonly children: Map<string, Branch<T>>
  readonly items: Set<{ readonly value: T }>
}

const emptyBranch = <T>(): Branch<T> => ({ children: new Map(), items: new Set() })

/**
 * Queue whose keys take turns: on every level of the path, each key gets one turn before another gets its second. Within a key, first
 * come, first served.
 */
export class FairQueue<T> {
  readonly #root = emptyBranch<T>()
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Adds a value. The returned function removes it if it is still queued. */
  add(path: SharePath, value: T): () => boolean {
    let branch = this.#root
    for (const key of path) {
      const child = branch.children.get(key) ?? emptyBranch<T>()
      branch.children.set(key, child)
      branch = child
    }
    const item = { value }
    branch.items.add(item)
    this.#size++
    const { items } = branch
    return () => {
      if (!items.delete(item)) return false
      this.#size--
      prune(this.#root, path, 0)
      return true
    }
  }

  /** Removes and returns the next value. Keys that are not eligible keep their place. */
  take(isEligible: (path: SharePath) => boolean = () => true): T | undefined {
    const taken = takeFrom(this.#root, [], isEligible)
    if (taken === undefined) return undefined
    this.#size--
    return taken.value
  }
}

function takeFrom<T>(
  branch: Branch<T>,
  path: SharePath,
  isEligible: (path: SharePath) => boolean,
): { readonly value: T } | undefined {
  const [first] = branch.items
  if (first !== undefined && isEligible(path)) {
    branch.items.delete(first)
    return first
  }
  for (const [key, child] of branch.children) {
    const taken = takeFrom(child, [...path, key], isEligible)
    if (taken === undefined) continue
    // Behind all others until its next turn.
    branch.children.delete(key)
    if (!isEmpty(child)) branch.children.set(key, child)
    return taken
  }
  return undefined
}

const isEmpty = <T>({ children, items }: Branch<T>): boolean => children.size === 0 && items.size === 0

function prune<T>(branch: Branch<T>, path: SharePath, depth: number): void {
  const key = path[depth]
  const child = key === undefined ? undefined : branch.children.get(key)
  if (key === undefined || child === undefined) return
  prune(child, path, depth + 1)
  if (isEmpty(child)) branch.children.delete(key)
}
