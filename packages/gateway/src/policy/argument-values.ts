const maxValues = 100
const maxDepth = 3

/**
 * Returns the texts in the named arguments, and in arrays there; `undefined` if one is missing, is not a text, or if there are too
 * many.
 */
export function argumentValues(
  input: Readonly<Record<string, unknown>>,
  names: readonly string[],
): readonly string[] | undefined {
  const found: string[] = []
  const collect = (value: unknown, depth: number): boolean => {
    if (Array.isArray(value)) return depth < maxDepth && value.length > 0 && value.every((each) => collect(each, depth + 1))
    if (typeof value !== 'string' || found.length === maxValues) return false
    found.push(value)
    return true
  }
  const isComplete = names.every((name) => Object.hasOwn(input, name) && collect(input[name], 0))
  return isComplete ? found : undefined
}
