import { expandVariables, printable, type VariableProblem } from '@unfold-mcp/core'

export interface Expanded {
  readonly text: string
  readonly problems: readonly string[]
}

/** Environment variables, passed in because only `main.ts` reads `process.env`. */
export type Environment = { readonly [name: string]: string | undefined }

/** Expands the variables of a text and describes those that cannot be expanded. */
export function expand(text: string, environment: Environment): Expanded {
  const variable = (name: string): string | undefined => (Object.hasOwn(environment, name) ? environment[name] : undefined)
  const { text: expanded, unset, problems } = expandVariables(text, { variable })
  return { text: expanded, problems: [...problems.map(problemText), ...unset.map(unsetText)] }
}

const unsetText = (name: string): string => `${name} is not set. Set it, or give it a default: \${${name}:-value}.`

function problemText({ kind, inside }: VariableProblem): string {
  if (kind === 'unknown')
    return `contains \${${printable(inside)}}, which is not supported here. Write \${NAME} or \${NAME:-default}.`
  return `contains an unterminated or nested "\${". Write \${NAME} or \${NAME:-default}, or $\${ for a literal "\${".`
}
