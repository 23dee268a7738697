/** Values for the variables of a text. */
export interface VariableSource {
  /** Returns the value of an environment variable. */
  readonly variable: (name: string) => string | undefined
  /** Returns the value of what stands between the braces where that is not an environment variable. */
  readonly predefined?: (inside: string) => string | undefined
  /** `$NAME` is a variable too, where one of that name is set and not empty. */
  readonly bareNames?: boolean
}

/** A reference that cannot be expanded whatever the environment holds. */
export interface VariableProblem {
  /** `unterminated`: a `${` that does not end, or braces within braces. `nested`: a variable within another. */
  readonly kind: 'unknown' | 'nested' | 'unterminated'
  /** The text between the braces; empty for `unterminated`. */
  readonly inside: string
}

export interface ExpandedText {
  readonly text: string
  /** The environment variables that were read. */
  readonly uses: readonly string[]
  /** The environment variables that are not set and have no default; the text has nothing in their place. */
  readonly unset: readonly string[]
  readonly problems: readonly VariableProblem[]
}

// A default may be JSON, so braces may be nested once.
const pattern = /\$\$(?=\{)|\$\{((?:[^{}]|\{[^{}]*\})*)\}|(\$\{)|\$([A-Za-z_]\w*)/gu
// With parentheses for ProgramFiles(x86).
const environment = /^(?:env:)?([A-Za-z_][\w()]*)(?::-(.*))?$/su

const opening = '${'

/**
 * Expands `${NAME}`, `${NAME:-default}` and `${env:NAME}`. `$${` stands for `${` itself; any other `$` stays as it is, because
 * passwords contain them. The values of variables are not expanded again. What cannot be expanded is left out, but for a `${`
 * that does not end.
 */
export function expandVariables(text: string, { variable, predefined, bareNames = false }: VariableSource): ExpandedText {
  const uses = new Set<string>()
  const unset = new Set<string>()
  const problems: VariableProblem[] = []
  const read = (name: string): string | undefined => {
    const value = variable(name)
    if (value !== undefined) uses.add(name)
    return value
  }
  const expanded = replaceVariables(text, {
    braced(inside) {
      const known = predefined?.(inside)
      if (known !== undefined) return known
      const [, name, fallback] = environment.exec(inside) ?? []
      if (name === undefined || fallback?.includes(opening) === true) {
        problems.push({ kind: inside.includes(opening) ? 'nested' : 'unknown', inside })
        return ''
      }
      const value = read(name)
      // As in a shell, the default also replaces an empty value.
      if (fallback !== undefined) return value === undefined || value === '' ? fallback : value
      if (value === undefined) unset.add(name)
      return value ?? ''
    },
    bare: (name) => (bareNames && read(name)) || `$${name}`,
    escaped: '$',
    unterminated() {
      problems.push({ kind: 'unterminated', inside: '' })
    },
  })
  return { text: expanded, uses: [...uses], unset: [...unset], problems }
}

/** Replaces the references of a text, without any meaning of their own. */
export function replaceVariables(
  text: string,
  {
    braced,
    bare,
    escaped = '$$',
    unterminated,
  }: {
    readonly braced: (inside: string) => string
    readonly bare: (name: string) => string
    /** Replaces the `$$` of `$${`. Default: nothing changes. */
    readonly escaped?: string
    readonly unterminated?: () => void
  },
): string {
  return text.replace(pattern, (_, inside: string | undefined, open: string | undefined, name: string | undefined) => {
    if (inside !== undefined) return braced(inside)
    if (name !== undefined) return bare(name)
    if (open === undefined) return escaped
    unterminated?.()
    return open
  })
}
