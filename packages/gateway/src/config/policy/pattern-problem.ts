import { Script } from 'node:vm'

/** Returns why a regular expression cannot be used: it is invalid, or takes exponential time for some texts. */
export function patternProblem(source: string): string | undefined {
  let pattern: RegExp
  try {
    pattern = new RegExp(source, 'u')
  } catch (error) {
    return `is not a valid regular expression: ${error instanceof Error ? error.message : String(error)}`
  }
  return probes(source).every((text) => terminates(pattern, text))
    ? undefined
    : 'takes too long for some texts. Avoid repeating a group that contains a repetition'
}

// A running regular expression can only be interrupted inside a script with a timeout.
const script = new Script('pattern.test(text)')
// Safe patterns take microseconds for these texts, unsafe ones years.
const timeout = 1_000
const repetitions = 50

function terminates(pattern: RegExp, text: string): boolean {
  try {
    script.runInNewContext({ pattern, text }, { timeout })
    return true
  } catch {
    return false
  }
}

/** Texts that an ambiguous repetition splits in many ways, and that do not match in the end. */
function probes(source: string): readonly string[] {
  const literals = source.replaceAll(/\\[a-zA-Z]|[^\p{L}\p{N}_/.:@ -]/gu, '')
  const repeated = new Set([...Array.from(`a0A_-./ ${literals.slice(0, 50)}`), literals.slice(0, 20)])
  return [...repeated].filter((text) => text !== '').map((text) => `${text.repeat(repetitions)}\u{10ffff}`)
}
