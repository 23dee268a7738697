import { isRecord } from '@unfold-mcp/core'

/** Defines a property of any name, including `__proto__`. */
export function setProperty(object: object, name: string, value: unknown): void {
  Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
}

/** Sets the value at a path; creates missing objects and replaces values that are not objects. */
export function setPropertyAt(root: object, path: readonly string[], value: unknown): void {
  let parent: object = root
  for (const step of path.slice(0, -1)) {
    const inner: unknown = Object.hasOwn(parent, step) ? (parent as { readonly [key: string]: unknown })[step] : undefined
    const next = isRecord(inner) ? inner : {}
    if (next !== inner) setProperty(parent, step, next)
    parent = next
  }
  setProperty(parent, path.at(-1) ?? '', value)
}
