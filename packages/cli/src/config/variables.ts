import {
  expandVariables,
  printable,
  replaceVariables,
  type SecretReference,
  secretReference,
  type VariableProblem,
} from '@unfold-mcp/core'
import { envVariable, pathModule, type System } from './system.ts'

export interface Variables {
  readonly system: System
  readonly folder: string
  /** Inputs that the editor would prompt for: descriptions by ID. */
  readonly inputs: ReadonlyMap<string, string>
  /** Whether `$NAME` is expanded too. */
  readonly bareNames: boolean
  /** Expands references to secrets; without it, they are unknown variables. */
  readonly secret?: (reference: SecretReference) => string
}

export interface Expanded {
  readonly text: string
  readonly uses: readonly string[]
  /** Unset variables without a default; expanded to an empty string. */
  readonly unset: readonly string[]
  /** Problems other than unset variables. */
  readonly problems: readonly string[]
}

export const unsetProblem = (name: string): string => `${name} is not set. Set it, or add a default: \${${name}:-value}`

/** Expands variables and predefined folders such as `${workspaceFolder}`. */
export function expand(text: string, variables: Variables): Expanded {
  const { system, bareNames, inputs } = variables
  const expanded = expandVariables(text, {
    variable: (name) => envVariable(system, name),
    predefined: (inside) => secretValue(inside, variables) ?? predefined(inside, variables),
    bareNames,
  })
  // Other programs leave an unterminated `${` unchanged.
  const problems = expanded.problems.filter(({ kind }) => kind !== 'unterminated')
  return { ...expanded, problems: problems.map((problem) => problemText(problem, inputs)) }
}

/**
 * Rewrites text for a configuration that supports only `${NAME}`, `${NAME:-default}` and `${env:NAME}`: predefined folders are
 * expanded, variables are kept, so that their values are not written to a file.
 */
export function portableText(text: string, variables: Variables): string {
  return replaceVariables(text, {
    braced: (inside) => predefined(inside, variables) ?? `\${${portableReference(inside, variables)}}`,
    bare: (name) => (variables.bareNames && envVariable(variables.system, name) ? `\${${name}}` : `$${name}`),
  })
}

function secretValue(inside: string, { secret }: Variables): string | undefined {
  const reference = secret === undefined ? undefined : secretReference(inside)
  return reference === undefined ? undefined : secret?.(reference)
}

/** The path of a secret file is relative to the configuration. */
function portableReference(inside: string, { folder, system, secret }: Variables): string {
  const reference = secret === undefined ? undefined : secretReference(inside)
  return reference?.kind === 'file' ? `file:${pathModule(system.platform).resolve(folder, reference.argument)}` : inside
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
  if (inside === '') return `${shown} has no variable name`
  if (kind === 'nested') return `${shown} contains a nested variable, which is not supported`
  if (!inside.startsWith('input:'))
    return `unknown variable ${shown}. Supported: \${NAME}, \${NAME:-default}, \${env:NAME}, \${workspaceFolder}, \${userHome}`
  const id = inside.slice('input:'.length)
  const description = inputs.get(id)
  const what = description === undefined || description === '' ? '' : ` ("${printable(description)}")`
  const name = id.replaceAll(/\W+/gu, '_').toUpperCase()
  const instead = /^[A-Z_]\w*$/u.test(name) ? name : 'NAME'
  return `${shown} is an editor input${what}, which is not available here. Use an environment variable instead: \${env:${instead}}`
}
