/** Properties and items that a schema has evaluated, for `unevaluatedProperties` and `unevaluatedItems`. */
export interface Evaluated {
  readonly properties: ReadonlySet<string> | 'all'
  readonly items: ReadonlySet<number> | 'all'
}

export const nothingEvaluated: Evaluated = { properties: new Set(), items: new Set() }

export function mergeEvaluated(a: Evaluated, b: Evaluated): Evaluated {
  if (a === nothingEvaluated) return b
  if (b === nothingEvaluated) return a
  return { properties: union(a.properties, b.properties), items: union(a.items, b.items) }
}

function union<T>(a: ReadonlySet<T> | 'all', b: ReadonlySet<T> | 'all'): ReadonlySet<T> | 'all' {
  if (a === 'all' || b === 'all') return 'all'
  return new Set([...a, ...b])
}
