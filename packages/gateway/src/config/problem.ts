import { locatedText, printable } from '@unfold-mcp/core'

/** An error in a configuration file: where it is, what is wrong and how to fix it. */
export interface ConfigProblem {
  readonly file: string
  readonly line: number
  readonly column: number
  /** Path in the configuration, such as `mcpServers.git.command`; empty for the file. */
  readonly path: string
  readonly message: string
}

/** Formats a problem as `file:line:column`, which editors and terminals turn into a link. */
export const problemLine = (problem: ConfigProblem): string => `${problem.file}:${locatedText(problem)}`

/** An invalid configuration, with all its problems. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly ConfigProblem[]

  constructor(problems: readonly ConfigProblem[]) {
    super(problems.map(problemLine).join('\n'))
    this.problems = problems
  }
}

/** Formats a path; names that are not identifiers are written in brackets. */
export function pathText(path: readonly PropertyKey[]): string {
  return path
    .map((part, index) => {
      if (typeof part === 'number') return `[${part}]`
      const text = String(part)
      if (!/^[\w$-]+$/u.test(text)) return `["${printable(text)}"]`
      return index === 0 ? text : `.${text}`
    })
    .join('')
}
