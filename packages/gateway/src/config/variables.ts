import { expandVariables, printable, type VariableProblem } from '@unfold-mcp/core'

/** A text with its variables filled in, and what is wrong with those that could not be. */
export interface Expanded {
  readonly text: string
  readonly problems: readonly string[]
}

/** The variables there are. Handed in, because only the program's entry reads its environment. */
export type Environment = { readonly [name: string]: string | undefined }

/** Expands the variables of a text, and says what to do about those that cannot be. */
export function expand(text: string, environment: Environment): Expanded {
  const variable = (name: string): string | undefined => (Object.hasOwn(environment, name) ? environment[name] : undefined)
  const { text: expanded, unset, problems } = expandVariables(text, { variable })
  return { text: expanded, problems: [...problems.map(problemText), ...unset.map(unsetText)] }
}

const unsetText = (name: string): string => `${name} is not set. Set it, or give it a default: \${${name}:-value}.`

function problemText({ kind, inside }: VariableProblem): string {
  if (kind === 'unknown')
    return `contains \${${printable(inside)}}, which is not supported here. Write \${NAME} or \${NAME:-default}.`
  return `contains a "\${" that does not end, or one within another. Write \${NAME} or \${NAME:-default}, or $\${ for itself.`
}
