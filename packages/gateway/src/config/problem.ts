import { printable } from '@unfold-mcp/core'

/** A mistake in a configuration: where it is, what is wrong and what to do. */
export interface ConfigProblem {
  readonly file: string
  readonly line: number
  readonly column: number
  /** Where in the configuration, such as `mcpServers.git.command`; empty for the whole. */
  readonly path: string
  readonly message: string
}

/** A problem in one line that editors and terminals make a link of. */
export function problemLine({ file, line, column, path, message }: ConfigProblem): string {
  return `${file}:${line}:${column} ${path === '' ? '' : `${path} `}${message}`
}

/** A configuration that cannot be used, with everything that is wrong with it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly ConfigProblem[]

  constructor(problems: readonly ConfigProblem[]) {
    super(problems.map(problemLine).join('\n'))
    this.problems = problems
  }
}

/** A path as people write it: a name that is no plain word stands in brackets. */
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
