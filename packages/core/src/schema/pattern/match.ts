import type { Part } from './parse.ts'

const maxSteps = 20_000
const maxLength = 400

/** Tests a text against a pattern; `undefined` if that takes too many steps. */
export function matches(pattern: Part, text: string): boolean | undefined {
  const chars = Array.from(text)
  if (chars.length > maxLength) return undefined
  let steps = 0
  const step = (part: Part, at: number, then: (at: number) => boolean): boolean => {
    if (++steps > maxSteps) return false
    switch (part.kind) {
      case 'start':
        return at === 0 && then(at)
      case 'end':
        return at === chars.length && then(at)
      case 'set':
        return at < chars.length && part.has(chars[at] ?? '') && then(at + 1)
      case 'either':
        return part.branches.some((branch) => step(branch, at, then))
      case 'all':
        return inOrder(part.parts, 0, at, then)
      default:
        return repeated(part, 0, at, then)
    }
  }
  const inOrder = (parts: readonly Part[], index: number, at: number, then: (at: number) => boolean): boolean => {
    const part = parts[index]
    return part === undefined ? then(at) : step(part, at, (next) => inOrder(parts, index + 1, next, then))
  }
  const repeated = (
    { part, min, max }: Extract<Part, { readonly kind: 'repeat' }>,
    count: number,
    at: number,
    then: (at: number) => boolean,
  ): boolean => {
    // An empty repetition needs to match only once.
    const again = (next: number): boolean =>
      next === at ? then(next) : repeated({ kind: 'repeat', part, min, max }, count + 1, next, then)
    if (count < max && step(part, at, again)) return true
    return count >= min && then(at)
  }
  const found = Array.from({ length: chars.length + 1 }, (_, start) => start).some((start) => step(pattern, start, () => true))
  if (found) return true
  return steps > maxSteps ? undefined : false
}
