import { printable } from '@unfold-mcp/core'
import { pathsOf, type Surroundings, variableOf } from './surroundings.ts'

/** What the variables in a file stand for. */
export interface Variables {
  readonly surroundings: Surroundings
  /** The folder that `${workspaceFolder}` stands for. */
  readonly folder: string
  /** What the file's own program would ask its user for, by id, each with its description. */
  readonly inputs: ReadonlyMap<string, string>
  /** Whether `$NAME` is a variable too, if there is one of that name. */
  readonly bareNames: boolean
}

/** A text with its variables filled in, the variables of the environment it reads, and what is wrong with the others. */
export interface Expanded {
  readonly text: string
  readonly uses: readonly string[]
  /** The variables that are not set and have no default; the text has nothing in their place. */
  readonly unset: readonly string[]
  /** What is wrong whatever is set. */
  readonly problems: readonly string[]
}

/** What is wrong with a text as long as a variable is not set. */
export const unsetProblem = (name: string): string =>
  `the variable ${name} is not set. Set it, or give it a default: \${${name}:-value}`

const pattern = /\$\$(?=\{)|\$\{([^}]*)\}|\$([A-Za-z_]\w*)/gu
const environment = /^(?:env:)?([A-Za-z_][\w()]*)(?::-(.*))?$/su

/**
 * Fills in `${NAME}`, `${NAME:-default}`, `${env:NAME}` and the folders that editors name. `$${` stands for `${` itself; any
 * other `$` is left alone, because passwords hold them.
 */
export function expand(text: string, variables: Variables): Expanded {
  const uses = new Set<string>()
  const unset = new Set<string>()
  const problems: string[] = []
  const expanded = text.replace(pattern, (whole: string, braced: string | undefined, bare: string | undefined) => {
    if (bare !== undefined) return (variables.bareNames && read(bare)) || whole
    if (braced === undefined) return '$'
    const known = predefined(braced, variables)
    if (known !== undefined) return known
    const [, name, fallback] = environment.exec(braced) ?? []
    if (name === undefined) return fail(notKnown(braced, variables.inputs))
    const value = read(name)
    // As in a shell, the default also stands in for an empty value.
    if (fallback !== undefined) return value === undefined || value === '' ? fallback : value
    if (value === undefined) unset.add(name)
    return value ?? ''
  })
  return { text: expanded, uses: [...uses], unset: [...unset], problems }

  function read(name: string): string | undefined {
    const value = variableOf(variables.surroundings, name)
    if (value !== undefined) uses.add(name)
    return value
  }

  function fail(problem: string): string {
    problems.push(problem)
    return ''
  }
}

/**
 * The same text for a configuration that knows only `${NAME}`, `${NAME:-default}` and `${env:NAME}`: folders that editors name are
 * filled in, and variables stay variables, so that what they hold is written nowhere.
 */
export function portableText(text: string, variables: Variables): string {
  return text.replace(pattern, (whole: string, braced: string | undefined, bare: string | undefined) => {
    if (braced !== undefined) return predefined(braced, variables) ?? whole
    const isVariable = bare !== undefined && variables.bareNames && variableOf(variables.surroundings, bare)
    return isVariable ? `\${${bare}}` : whole
  })
}

function predefined(name: string, { folder, surroundings }: Variables): string | undefined {
  const path = pathsOf(surroundings.platform)
  const known: { readonly [name: string]: string } = {
    workspaceFolder: folder,
    workspaceFolderBasename: path.basename(folder),
    userHome: surroundings.home,
    cwd: surroundings.cwd,
    pathSeparator: path.sep,
    '/': path.sep,
  }
  return Object.hasOwn(known, name) ? known[name] : undefined
}

function notKnown(inside: string, inputs: ReadonlyMap<string, string>): string {
  const shown = `\${${printable(inside)}}`
  if (inside === '') return `${shown} names no variable`
  if (!inside.startsWith('input:'))
    return `${shown} is not known here. Known are \${NAME}, \${NAME:-default}, \${env:NAME}, \${workspaceFolder} and \${userHome}`
  const id = inside.slice('input:'.length)
  const about = inputs.get(id)
  const what = about === undefined || about === '' ? '' : ` ("${printable(about)}")`
  const name = id.replaceAll(/\W+/gu, '_').toUpperCase()
  const instead = /^[A-Z_]\w*$/u.test(name) ? name : 'NAME'
  return `${shown} is an input${what} that its editor asks for and keeps to itself. Put it into a variable, and write \${env:${instead}}`
}
