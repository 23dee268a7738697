import { expandVariables, printable, type SecretReference, secretReference, type VariableProblem } from '@unfold-mcp/core'
import type { SecretLookup } from '../secrets/resolver.ts'

export interface Expanded {
  readonly text: string
  readonly problems: readonly string[]
  /** Values of the secrets that it contains. */
  readonly secrets: readonly string[]
  readonly warnings: readonly string[]
  /** True if it contains references to secrets that were not resolved. */
  readonly isUnresolved: boolean
}

/** How references to secrets are expanded: by a lookup, or not at all, for the reason given. */
export type SecretSource = SecretLookup | { readonly forbidden: string }

/** Environment variables, passed in because only `main.ts` reads `process.env`. */
export type Environment = { readonly [name: string]: string | undefined }

/** Expands the variables of a text and describes those that cannot be expanded. */
export function expand(text: string, environment: Environment, source: SecretSource): Expanded {
  const variable = (name: string): string | undefined => (Object.hasOwn(environment, name) ? environment[name] : undefined)
  const secrets: string[] = []
  const secretProblems: string[] = []
  const warnings: string[] = []
  let isUnresolved = false
  const secret = (reference: SecretReference): string => {
    const shown = printable(reference.text, maxReferenceLength)
    const resolved = typeof source === 'function' ? source(reference) : { problem: source.forbidden }
    if (resolved === undefined) isUnresolved = true
    else if ('problem' in resolved) secretProblems.push(`${shown}: ${resolved.problem}`)
    else {
      secrets.push(resolved.value)
      if (resolved.warning !== undefined) warnings.push(`${shown}: ${resolved.warning}`)
      return resolved.value
    }
    return ''
  }
  const predefined = (inside: string): string | undefined => {
    const reference = secretReference(inside)
    return reference === undefined ? undefined : secret(reference)
  }
  const { text: expanded, unset, problems } = expandVariables(text, { variable, predefined })
  return {
    text: expanded,
    problems: [...problems.map(problemText), ...unset.map(unsetText), ...secretProblems],
    secrets,
    warnings,
    isUnresolved,
  }
}

const maxReferenceLength = 300

const unsetText = (name: string): string => `${name} is not set. Set it, or give it a default: \${${name}:-value}.`

function problemText({ kind, inside }: VariableProblem): string {
  if (kind === 'unknown')
    return `contains \${${printable(inside)}}, which is not supported here. Write \${NAME} or \${NAME:-default}.`
  return `contains an unterminated or nested "\${". Write \${NAME} or \${NAME:-default}, or $\${ for a literal "\${".`
}
