import { readdir } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { readRegularFile } from '@unfold-mcp/core/files'
import {
  createScriptReader,
  createTypeStripper,
  quickJsEngine,
  type ScriptDeclaration,
  type ScriptEngine,
  type ScriptReader,
  type TypeStripper,
} from '@unfold-mcp/server/scripts'
import type { ConfigProblem } from '../config/problem.ts'
import { isScriptFile } from '../config/scripts/files.ts'
import { scriptName } from './script-text.ts'

/** A script file that can be offered as a tool. */
export interface ScriptFile {
  readonly name: string
  readonly file: string
  readonly code: string
  readonly declaration: ScriptDeclaration
}

export interface ReadScripts {
  readonly scripts: readonly ScriptFile[]
  readonly problems: readonly ConfigProblem[]
}

const maxScripts = 500
const maxCharacters = 200_000

/** Other programs may share the folder. A file that exports nothing of a script is not one. */
const isScript = (code: string): boolean => /\bexport\s+(?:default|const\s+description)\b/u.test(code)

/** Reads the scripts of a folder. `known`: those of an earlier read; files with the same text are not evaluated again. */
export async function readScripts(
  folder: string,
  reader: Pick<ScriptReader, 'read'>,
  known: ReadonlyMap<string, ReadScript> = new Map(),
): Promise<ReadScripts & { readonly read: ReadonlyMap<string, ReadScript> }> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  // Links could lead to files that are no scripts.
  const names = entries.filter((entry) => entry.isFile() && isScriptFile(entry.name)).map(({ name }) => name)
  const read = new Map<string, ReadScript>()
  for (const name of names.sort().slice(0, maxScripts)) {
    const file = join(folder, name)
    const code = await readRegularFile(file).then(String, () => undefined)
    // Removed since it was listed.
    if (code === undefined || !isScript(code)) continue
    const before = known.get(file)
    read.set(file, before?.code === code ? before : { code, ...(await readScript(file, code, reader)) })
  }
  const scripts: ScriptFile[] = []
  const problems: ConfigProblem[] = []
  for (const [file, { code, declaration, problem }] of read) {
    const name = nameOf(file)
    if (problem !== undefined) problems.push(problem)
    else if (scripts.some((other) => other.name === name))
      problems.push(problemIn(file, { message: `There is another script named "${name}". Rename one of them.` }))
    else if (declaration !== undefined) scripts.push({ name, file, code, declaration })
  }
  if (names.length > maxScripts)
    problems.push(problemIn(folder, { message: `Only the first ${maxScripts} of ${names.length} scripts are used.` }))
  return { scripts, problems, read }
}

export interface ReadScript {
  readonly code: string
  readonly declaration?: ScriptDeclaration
  readonly problem?: ConfigProblem
}

async function readScript(file: string, code: string, reader: Pick<ScriptReader, 'read'>): Promise<Omit<ReadScript, 'code'>> {
  const name = nameOf(file)
  if (!scriptName(name))
    return { problem: problemIn(file, { message: 'The name of a script has 1 to 64 letters, digits, underscores and hyphens.' }) }
  if (code.length > maxCharacters)
    return { problem: problemIn(file, { message: `The script is longer than ${maxCharacters} characters.` }) }
  const read = await reader.read(code)
  return 'error' in read ? { problem: problemIn(file, read.error) } : { declaration: read.declaration }
}

const nameOf = (file: string): string => file.slice(file.search(/[^\\/]+$/u), file.length - extname(file).length)

interface Place {
  readonly message: string
  readonly name?: string
  readonly line?: number
  readonly column?: number
}

export const problemIn = (file: string, { message, name, line = 1, column = 1 }: Place): ConfigProblem => ({
  file,
  line,
  column,
  path: '',
  message: name === undefined || name === 'Error' ? message : `${name}: ${message}`,
})

/** What commands need to read and to run scripts. */
export interface OpenScripts extends AsyncDisposable {
  readonly engine: ScriptEngine
  readonly stripper: TypeStripper
  read(folder: string): Promise<ReadScripts>
}

export function openScripts(): OpenScripts {
  const engine = quickJsEngine({ workers: 1, idleMs: 1_000 })
  const stripper = createTypeStripper()
  const reader = createScriptReader(engine, stripper)
  return {
    engine,
    stripper,
    read: (folder) => readScripts(folder, reader),
    [Symbol.asyncDispose]: () => reader[Symbol.asyncDispose](),
  }
}
