/** Which properties and items of a value some schema has looked at, for `unevaluatedProperties` and `unevaluatedItems`. */
export interface Evaluated {
  readonly properties: ReadonlySet<string> | 'all'
  readonly items: ReadonlySet<number> | 'all'
}

export const nothing: Evaluated = { properties: new Set(), items: new Set() }

/** What either has looked at. */
export function both(a: Evaluated, b: Evaluated): Evaluated {
  if (a === nothing) return b
  if (b === nothing) return a
  return { properties: union(a.properties, b.properties), items: union(a.items, b.items) }
}

function union<T>(a: ReadonlySet<T> | 'all', b: ReadonlySet<T> | 'all'): ReadonlySet<T> | 'all' {
  if (a === 'all' || b === 'all') return 'all'
  return new Set([...a, ...b])
}
