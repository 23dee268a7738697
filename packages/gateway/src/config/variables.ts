import { printable } from '@unfold-mcp/core'

/** A text with its variables filled in, and what is wrong with those that could not be. */
export interface Expanded {
  readonly text: string
  readonly problems: readonly string[]
}

/** The variables there are. Handed in, because only the program's entry reads its environment. */
export type Environment = { readonly [name: string]: string | undefined }

const pattern = /\$\$(?=\{)|\$\{([^{}]*)\}|\$\{/gu
const variable = /^(?:env:)?([A-Za-z_]\w*)(?::-(.*))?$/su

/**
 * Fills in `${NAME}`, `${NAME:-default}` and `${env:NAME}`. `$${` stands for `${` itself; any other `$` is left alone, because
 * passwords hold them. What a variable holds is not looked into again.
 */
export function expand(text: string, environment: Environment): Expanded {
  const problems: string[] = []
  const fail = (problem: string): string => {
    problems.push(problem)
    return ''
  }
  const expanded = text.replaceAll(pattern, (whole: string, inside: string | undefined) => {
    if (whole === '$$') return '$'
    if (inside === undefined)
      return fail(
        `holds a "\${" that does not end, or one within another. Write \${NAME} or \${NAME:-default}, or $\${ for itself.`,
      )
    const [, name, fallback] = variable.exec(inside) ?? []
    if (name === undefined)
      return fail(`holds \${${printable(inside)}}, which is not known here. Write \${NAME} or \${NAME:-default}.`)
    const value = Object.hasOwn(environment, name) ? environment[name] : undefined
    // As in a shell, the default also stands in for an empty value.
    if (fallback !== undefined) return value === undefined || value === '' ? fallback : value
    return value ?? fail(`${name} is not set. Set it, or give it a default: \${${name}:-value}.`)
  })
  return { text: expanded, problems }
}
