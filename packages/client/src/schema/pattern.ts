import { createContext, Script } from 'node:vm'

// A regular expression cannot be interrupted from the outside, except when it runs as a script with a time limit.
const script = new Script('pattern.test(text)')
const longest = 2_000

let context: { pattern?: RegExp; text?: string } | undefined

/** Patterns of one check, which share the time they may take. */
export class Patterns {
  #leftMs: number

  constructor(patternMs: number) {
    this.#leftMs = patternMs
  }

  /** Whether `text` matches, or why that was not found out. */
  test(source: string, text: string): boolean | { readonly unchecked: string } {
    if (source.length > longest) return { unchecked: 'a pattern is too long' }
    if (this.#leftMs < 1) return { unchecked: 'patterns take too long' }
    const pattern = compiled(source)
    if (pattern === undefined) return { unchecked: 'a pattern is no regular expression' }
    const started = performance.now()
    context ??= createContext({})
    context.pattern = pattern
    context.text = text
    try {
      return script.runInContext(context, { timeout: Math.ceil(this.#leftMs) }) === true
    } catch {
      return { unchecked: 'a pattern takes too long' }
    } finally {
      this.#leftMs -= performance.now() - started
      delete context.text
    }
  }
}

function compiled(source: string): RegExp | undefined {
  for (const flags of ['u', '']) {
    try {
      return new RegExp(source, flags)
    } catch {
      // Many patterns in the world are not written for the stricter kind.
    }
  }
  return undefined
}
