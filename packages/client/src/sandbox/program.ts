import { closeSync, openSync, readSync } from 'node:fs'
import { basename, delimiter, dirname, join, resolve, sep } from 'node:path'
import { isFile, isFolder, isInside, type Link, type Resolved, resolveLinks, textOf } from './path.ts'

/** What a program has to read of itself. */
export interface ProgramFiles {
  /** Path of the program, as it is started. */
  readonly command: string
  readonly read: readonly string[]
  readonly links: readonly Link[]
}

export interface ProgramContext {
  readonly path: string
  readonly cwd: string
  /** Folders that never become readable as a whole: home folders and what contains them. */
  readonly isPrivate: (folder: string) => boolean
}

const maxInterpreters = 4
const interpreters =
  /^(?:node|nodejs|bun|deno|tsx|python[\d.]*|pypy[\d.]*|ruby|perl|php|java|dotnet|lua|Rscript|sh|bash|zsh|dash)$/u
const projectMarks = ['package.json', 'pyproject.toml', 'setup.py', 'requirements.txt', 'Gemfile', 'composer.json', 'deno.json']
// Their programs read the version to run from this folder.
const versionManagers = new Set(['.volta', '.bun', '.deno'])

/** Finds a program as `execvp` does. `undefined` if it does not exist. */
function findProgram(command: string, { path, cwd }: Pick<ProgramContext, 'path' | 'cwd'>): string | undefined {
  if (command.includes('/')) {
    const file = resolve(cwd, command)
    return isFile(file) ? file : undefined
  }
  return path
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(resolve(cwd, folder), command))
    .find(isFile)
}

/** Files that a command needs: the program, its interpreter, and the project of a script. `undefined` if there is no such program. */
export function programFiles(command: string, args: readonly string[], context: ProgramContext): ProgramFiles | undefined {
  const program = findProgram(command, context)
  if (program === undefined) return undefined
  const read = new Set<string>()
  const links = new Map<string, Link>()
  const add = (file: string): Resolved | undefined => {
    const resolved = resolveLinks(file)
    for (const link of resolved?.links ?? []) links.set(link.path, link)
    for (const each of resolved?.names.flatMap((name) => installationOf(name)) ?? []) read.add(each)
    return resolved
  }
  let file: string | undefined = program
  for (let count = 0; file !== undefined && count < maxInterpreters; count++) {
    const real: string = add(file)?.real ?? file
    const interpreter = interpreterOf(real)
    for (const each of interpreter === undefined ? [real] : [real, ...scriptFolders(real, context)]) read.add(each)
    file = interpreter === undefined ? undefined : findProgram(interpreter, context)
  }
  const script = interpreters.test(basename(command)) ? scriptOf(args, context.cwd) : undefined
  const real = script === undefined ? undefined : add(script)?.real
  if (real !== undefined) for (const each of [real, ...scriptFolders(real, context)]) read.add(each)
  return { command: program, read: [...read], links: [...links.values()] }
}

/** Other files of the installation that a program belongs to, by where programs of its kind are. */
function installationOf(file: string): readonly string[] {
  const folder = dirname(file)
  const root = dirname(folder)
  if (basename(folder) === 'shims' || (basename(folder) === 'bin' && versionManagers.has(basename(root)))) return [root]
  if (basename(folder) !== 'bin') return []
  const environment = textOf(join(root, 'pyvenv.cfg'))
  if (environment !== '') return [root, ...baseOf(environment)]
  const modules = join(root, 'lib', 'node_modules')
  if (/^(?:node|npm|npx)$/u.test(basename(file)) && isFolder(modules)) return [folder, modules]
  return /^(?:python|pypy)[\d.]*$/u.test(basename(file)) ? [folder, join(root, 'lib')].filter(isFolder) : []
}

/** Folders of the Python that a virtual environment was made from. */
function baseOf(environment: string): readonly string[] {
  const [, home] = /^home\s*=\s*(.+)$/mu.exec(environment) ?? []
  if (home === undefined) return []
  const real = resolveLinks(home.trim())?.real
  return real === undefined ? [] : [real, join(dirname(real), 'lib')].filter(isFolder)
}

/** Interpreter named in the first line of a script, as a path or a name. */
function interpreterOf(file: string): string | undefined {
  const [, program = '', rest = ''] = /^#!\s*(\S+)[ \t]*(.*)/u.exec(firstBytes(file)) ?? []
  if (program === '') return undefined
  if (basename(program) !== 'env') return program
  return rest.split(/\s+/u).find((word) => word !== '' && !word.startsWith('-') && !word.includes('='))
}

function firstBytes(file: string): string {
  const bytes = Buffer.alloc(256)
  try {
    const opened = openSync(file, 'r')
    try {
      return bytes.toString('utf8', 0, readSync(opened, bytes))
    } finally {
      closeSync(opened)
    }
  } catch {
    return ''
  }
}

/** First argument that is a file: what an interpreter runs. */
function scriptOf(args: readonly string[], cwd: string): string | undefined {
  return args
    .filter((arg) => !arg.startsWith('-'))
    .map((arg) => resolve(cwd, arg))
    .find(isFile)
}

/** Folders that a script imports from: its `node_modules`, or its project with the workspace around it. */
function scriptFolders(file: string, { isPrivate }: ProgramContext): readonly string[] {
  const parts = file.split(sep)
  const at = parts.indexOf('node_modules')
  if (at !== -1) return [parts.slice(0, at + 1).join(sep)]
  const folders: string[] = []
  for (let folder = dirname(file); !isPrivate(folder); folder = dirname(folder)) folders.push(folder)
  const workspace = folders.findLast(isWorkspace)
  const project = folders.find((folder) => projectMarks.some((mark) => isFile(join(folder, mark))))
  return [workspace ?? project ?? folders[0]].filter((folder) => folder !== undefined)
}

const isWorkspace = (folder: string): boolean =>
  isFile(join(folder, 'pnpm-workspace.yaml')) || /"workspaces"\s*:/u.test(textOf(join(folder, 'package.json')))

/** True for folders that hold more than one program's files: the root, and folders that contain one of `homes`. */
export const containsAny =
  (homes: readonly string[]) =>
  (folder: string): boolean =>
    folder === '/' || homes.some((home) => isInside(home, folder))
