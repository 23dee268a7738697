import { expandVariables, printable, replaceVariables, type VariableProblem } from '@unfold-mcp/core'
import { envVariable, pathModule, type System } from './system.ts'

/** What the variables in a file stand for. */
export interface Variables {
  readonly system: System
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

/** Expands the variables of a text, and the folders that editors name. */
export function expand(text: string, variables: Variables): Expanded {
  const { system, bareNames, inputs } = variables
  const expanded = expandVariables(text, {
    variable: (name) => envVariable(system, name),
    predefined: (inside) => predefined(inside, variables),
    bareNames,
  })
  // The programs these files belong to leave a `${` that does not end as it is.
  const problems = expanded.problems.filter(({ kind }) => kind !== 'unterminated')
  return { ...expanded, problems: problems.map((problem) => problemText(problem, inputs)) }
}

/**
 * The same text for a configuration that knows only `${NAME}`, `${NAME:-default}` and `${env:NAME}`: folders that editors name are
 * filled in, and variables stay variables, so that what they hold is written nowhere.
 */
export function portableText(text: string, variables: Variables): string {
  return replaceVariables(text, {
    braced: (inside) => predefined(inside, variables) ?? `\${${inside}}`,
    bare: (name) => (variables.bareNames && envVariable(variables.system, name) ? `\${${name}}` : `$${name}`),
  })
}

function predefined(name: string, { folder, system }: Variables): string | undefined {
  const path = pathModule(system.platform)
  const known: { readonly [name: string]: string } = {
    workspaceFolder: folder,
    workspaceFolderBasename: path.basename(folder),
    userHome: system.home,
    cwd: system.cwd,
    pathSeparator: path.sep,
    '/': path.sep,
  }
  return Object.hasOwn(known, name) ? known[name] : undefined
}

function problemText({ kind, inside }: VariableProblem, inputs: ReadonlyMap<string, string>): string {
  const shown = `\${${printable(inside)}}`
  if (inside === '') return `${shown} names no variable`
  if (kind === 'nested') return `${shown} has a variable within another, which is not supported. Write them one after the other`
  if (!inside.startsWith('input:'))
    return `${shown} is not known here. Known are \${NAME}, \${NAME:-default}, \${env:NAME}, \${workspaceFolder} and \${userHome}`
  const id = inside.slice('input:'.length)
  const about = inputs.get(id)
  const what = about === undefined || about === '' ? '' : ` ("${printable(about)}")`
  const name = id.replaceAll(/\W+/gu, '_').toUpperCase()
  const instead = /^[A-Z_]\w*$/u.test(name) ? name : 'NAME'
  return `${shown} is an input${what} that its editor asks for and keeps to itself. Put it into a variable, and write \${env:${instead}}`
}
