import { isRecord } from '@unfold-mcp/core'
/** Sets a property of whatever name: `__proto__` too becomes a property, and nothing else. */
export function setProperty(object: object, name: string, value: unknown): void {
  Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
}

/** Sets the value at a path, making the objects on the way; what is no object gives way to one. */
export function setPropertyAt(root: object, path: readonly string[], value: unknown): void {
  let around: object = root
  for (const step of path.slice(0, -1)) {
    const inner: unknown = Object.hasOwn(around, step) ? (around as { readonly [key: string]: unknown })[step] : undefined
    const next = isRecord(inner) ? inner : {}
    if (next !== inner) setProperty(around, step, next)
    around = next
  }
  setProperty(around, path.at(-1) ?? '', value)
}
