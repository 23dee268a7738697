import { readdir, stat } from 'node:fs/promises'
import { extname, join, resolve } from 'node:path'
import { metaKeys, type Tool } from '@unfold-mcp/core'
import { readRegularFile } from '@unfold-mcp/core/files'
import { defineToolbox, inputSchema, outputSchema, type Source, type Toolbox, type ToolEntry } from '@unfold-mcp/server'
import { Watcher } from '@unfold-mcp/server/plugins'
import { createScriptReader, quickJsEngine, type ScriptDeclaration, type ScriptReader } from '@unfold-mcp/server/scripts'
import { errorMessage } from '../base/error-message.ts'
import { version } from '../base/version.ts'
import type { ConfigProblem } from '../config/problem.ts'
import { isScriptFile } from '../config/script-files.ts'

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
  if (!/^[A-Za-z0-9_-]{1,64}$/u.test(name))
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

const problemIn = (file: string, { message, name, line = 1, column = 1 }: Place): ConfigProblem => ({
  file,
  line,
  column,
  path: '',
  message: name === undefined || name === 'Error' ? message : `${name}: ${message}`,
})

export interface ScriptFolderOptions {
  readonly folder: string
  /** Called with problems that were not there before. */
  readonly onProblem: (problem: ConfigProblem) => void
  /** Debounce time: saving a file causes several events. */
  readonly settleMs?: number
}

/** The scripts of a folder as a server in this process, which follows the files. It lists them; the gateway runs them. */
export class ScriptFolder implements AsyncDisposable {
  readonly folder: string
  readonly #options: ScriptFolderOptions
  readonly #toolbox: Toolbox
  readonly #listeners = new Set<() => void>()
  readonly #watcher: Watcher
  #reader: ScriptReader | undefined
  #read: ReadonlyMap<string, ReadScript> = new Map()
  #entries: readonly ToolEntry[] = []
  #problems: readonly ConfigProblem[] = []
  #stamp = ''
  #reading: Promise<void> = Promise.resolve()
  #isClosed = false

  /** Opens a folder with the scripts that it has now. */
  static async open(options: ScriptFolderOptions): Promise<ScriptFolder> {
    const folder = new ScriptFolder(options)
    await folder.reload()
    return folder
  }

  private constructor(options: ScriptFolderOptions) {
    this.#options = options
    this.folder = resolve(options.folder)
    const source: Source = {
      name: 'scripts',
      entries: () => this.#entries,
      subscribe: (changed) => {
        const listener = (): void => changed()
        this.#listeners.add(listener)
        return () => this.#listeners.delete(listener)
      },
    }
    this.#toolbox = defineToolbox({ name: 'scripts', version, exposure: 'everything', code: false }).use(source)
    this.#watcher = new Watcher(() => void this.reload(), { debounceMs: options.settleMs ?? 100, pollMs: 2_000 })
    this.#watcher.setFolders([this.folder])
  }

  /** The server, for a connection in this process. */
  get server(): object {
    return this.#toolbox
  }

  /** Problems of the files as they are now. */
  get problems(): readonly ConfigProblem[] {
    return this.#problems
  }

  /** Reads the files now, unless none of them changed. */
  reload(): Promise<void> {
    this.#reading = this.#reading.then(() => this.#reload()).catch((error: unknown) => this.#failed(error))
    return this.#reading
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    this.#watcher.close()
    await this.#reading
    await this.#toolbox.close()
    await this.#reader?.[Symbol.asyncDispose]()
  }

  async #reload(): Promise<void> {
    if (this.#isClosed) return
    const stamp = await stampOf(this.folder)
    if (stamp === this.#stamp) return
    this.#watcher.setFolders([])
    this.#watcher.setFolders([this.folder])
    this.#reader ??= createScriptReader(quickJsEngine({ workers: 1, idleMs: 5_000 }))
    const { scripts, problems, read } = await readScripts(this.folder, this.#reader, this.#read)
    if (this.#isClosed) return
    this.#stamp = stamp
    this.#read = read
    const before = new Map(this.#entries.map((entry) => [entry.tool.name, entry]))
    this.#entries = scripts.map((script) => {
      const known = before.get(script.name)
      return known?.tool._meta?.[metaKeys.code] === script.code ? known : entryOf(script)
    })
    this.#report(problems)
    for (const listener of this.#listeners) listener()
  }

  #failed(error: unknown): void {
    this.#report([problemIn(this.folder, { message: `The scripts cannot be read: ${errorMessage(error)}` })])
  }

  #report(problems: readonly ConfigProblem[]): void {
    const known = new Set(this.#problems.map((problem) => JSON.stringify(problem)))
    this.#problems = problems
    for (const problem of problems) if (!known.has(JSON.stringify(problem))) this.#options.onProblem(problem)
  }
}

/** Changes with every saved, added and removed script. */
async function stampOf(folder: string): Promise<string> {
  const names = (await readdir(folder).catch(() => [])).filter(isScriptFile).sort()
  const stamps = await Promise.all(
    names.map(async (name) => {
      const stats = await stat(join(folder, name)).catch(() => undefined)
      return `${name} ${stats?.mtimeMs} ${stats?.ctimeMs} ${stats?.size} ${stats?.ino}`
    }),
  )
  return `${names.length}\n${stamps.join('\n')}`
}

/** The definition of a script as a tool; its code is a part of it, so that a changed script is a changed definition. */
function entryOf({ name, code, declaration }: ScriptFile): ToolEntry {
  const { description, title, input, output, annotations } = declaration
  const inputs = inputSchema(name, input ?? { type: 'object', properties: {}, additionalProperties: false })
  const tool: Tool = {
    name,
    ...(title !== undefined && { title }),
    description,
    inputSchema: inputs.json,
    ...(output !== undefined && { outputSchema: outputSchema(name, output).json }),
    ...(annotations !== undefined && { annotations }),
    _meta: { [metaKeys.code]: code },
  }
  return {
    tool,
    origin: 'dynamic',
    source: 'scripts',
    visibility: {},
    tags: [],
    aliases: [],
    input: inputs,
    handler: () => {
      throw new Error('The gateway runs scripts itself.')
    },
  }
}
