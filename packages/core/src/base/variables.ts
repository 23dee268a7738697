/** Values for the variables of a text. */
export interface VariableSource {
  /** Returns the value of an environment variable. */
  readonly variable: (name: string) => string | undefined
  /** Returns the value of a predefined variable. */
  readonly predefined?: (inside: string) => string | undefined
  /** Also expand `$NAME` if that variable is set and not empty. */
  readonly bareNames?: boolean
}

/** Reference that can never be expanded. */
export interface VariableProblem {
  /** `unterminated`: a `${` without an end. `nested`: a variable within another. */
  readonly kind: 'unknown' | 'nested' | 'unterminated'
  /** The text between the braces; empty for `unterminated`. */
  readonly inside: string
}

export interface ExpandedText {
  readonly text: string
  /** The environment variables that were read. */
  readonly uses: readonly string[]
  /** Environment variables that are unset and have no default; they expand to nothing. */
  readonly unset: readonly string[]
  readonly problems: readonly VariableProblem[]
}

// A default may be JSON, so braces may be nested once.
const pattern = /\$\$(?=\{)|\$\{((?:[^{}]|\{[^{}]*\})*)\}|(\$\{)|\$([A-Za-z_]\w*)/gu
// With parentheses for ProgramFiles(x86).
const environment = /^(?:env:)?([A-Za-z_][\w()]*)(?::-(.*))?$/su

const opening = '${'

/**
 * Expands `${NAME}`, `${NAME:-default}` and `${env:NAME}`. `$${` is an escaped `${`; any other `$` is kept, because passwords contain
 * them. Values are not expanded again. References that cannot be expanded are removed, except an unterminated `${`.
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

/** Reference to a secret that is stored outside the configuration. */
export interface SecretReference {
  readonly kind: 'keyring' | 'file' | 'command'
  /** Name, path or command line. */
  readonly argument: string
  /** As written: `${kind:argument}`. */
  readonly text: string
}

// `${file:-x}` is a variable with a default.
const secret = /^(keyring|file|command):(?!-)(.*)$/su

/** Parses the text between the braces of `${keyring:name}`, `${file:path}` and `${command:line}`. */
export function secretReference(inside: string): SecretReference | undefined {
  const [, kind, argument = ''] = secret.exec(inside) ?? []
  return kind === undefined ? undefined : { kind: kind as SecretReference['kind'], argument, text: `${opening}${inside}}` }
}

/** Returns the references to secrets in a text. */
export function secretReferencesIn(text: string): readonly SecretReference[] {
  const found: SecretReference[] = []
  replaceVariables(text, {
    braced(inside) {
      const reference = secretReference(inside)
      if (reference !== undefined) found.push(reference)
      return ''
    },
    bare: () => '',
  })
  return found
}

/** Replaces the references in a text with the results of callbacks. */
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
