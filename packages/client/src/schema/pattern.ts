import { createContext, Script } from 'node:vm'

// A running regular expression can only be interrupted inside a script with a timeout.
const script = new Script('pattern.test(text)')
const maxPatternLength = 2_000

let context: { pattern?: RegExp; text?: string } | undefined

/** Patterns of one check; they share one time budget. */
export class Patterns {
  #leftMs: number

  constructor(patternMs: number) {
    this.#leftMs = patternMs
  }

  /** Tests `text`, or returns why it could not. */
  test(source: string, text: string): boolean | { readonly unchecked: string } {
    if (source.length > maxPatternLength) return { unchecked: 'pattern too long' }
    if (this.#leftMs < 1) return { unchecked: 'patterns timed out' }
    const pattern = compile(source)
    if (pattern === undefined) return { unchecked: 'invalid regular expression' }
    // Creating the context takes longer than most patterns.
    context ??= createContext({})
    const started = performance.now()
    context.pattern = pattern
    context.text = text
    try {
      return script.runInContext(context, { timeout: Math.ceil(this.#leftMs) }) === true
    } catch {
      return { unchecked: 'pattern timed out' }
    } finally {
      this.#leftMs -= performance.now() - started
      delete context.text
    }
  }
}

function compile(source: string): RegExp | undefined {
  for (const flags of ['u', '']) {
    try {
      return new RegExp(source, flags)
    } catch {
      // Many published patterns are invalid with the u flag.
    }
  }
  return undefined
}
