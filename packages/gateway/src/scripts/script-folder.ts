import { readdir, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { metaKeys, type Tool } from '@unfold-mcp/core'
import {
  createHandler,
  defineToolbox,
  type Handler,
  inputSchema,
  outputSchema,
  type Source,
  type Toolbox,
  type ToolEntry,
} from '@unfold-mcp/server'
import { Watcher } from '@unfold-mcp/server/plugins'
import { createScriptReader, quickJsEngine, type ScriptReader } from '@unfold-mcp/server/scripts'
import { errorMessage } from '../base/error-message.ts'
import { version } from '../base/version.ts'
import type { ConfigProblem } from '../config/problem.ts'
import { isScriptFile } from '../config/scripts/files.ts'
import { problemIn, type ReadScript, readScripts, type ScriptFile } from './script-files.ts'

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
  readonly #handler: Handler
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
    this.#handler = createHandler(this.#toolbox)
    this.#watcher = new Watcher(() => void this.reload(), { debounceMs: options.settleMs ?? 100, pollMs: 2_000 })
    this.#watcher.setFolders([this.folder])
  }

  /** The server, for a connection in this process. */
  get server(): object {
    return this.#handler
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
    await this.#handler.close()
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
