import { resolve } from 'node:path'
import { runScript } from '@unfold-mcp/server'
import type { ConfigProblem } from '../config/problem.ts'
import { type Config, isScriptServer, scriptSettings } from '../config/schema.ts'
import type { ProxiedCall, ProxiedResult } from '../middleware/chain.ts'
import { matcher } from '../names/pattern.ts'
import { ScriptFolder, type ScriptFolderOptions } from './script-folder.ts'

/** Returns the code of a script as it was admitted; `undefined` for the tool of another server. */
export interface AdmittedCode {
  codeOf(server: string, tool: string): string | undefined
}

/** The stored scripts of a gateway: the folder of its configuration, and their runs. */
export class StoredScripts {
  readonly #options: ScriptFolderOptions
  #current: ScriptFolder | undefined
  /** Folders of earlier configurations. Their connections end after the configuration was applied. */
  readonly #closing = new Set<Promise<void>>()

  /** `folder`: that of the configuration file. */
  constructor(options: ScriptFolderOptions) {
    this.#options = options
  }

  get problems(): readonly ConfigProblem[] {
    return this.#current?.problems ?? []
  }

  /** Returns the server that offers the scripts of a configuration, if it has any, with the scripts that the folder has now. */
  async open({ mcpServers }: Config): Promise<object | undefined> {
    const server = Object.values(mcpServers).find(isScriptServer)
    const folder = server === undefined ? undefined : resolve(this.#options.folder, server.scripts)
    if (folder !== this.#current?.folder) {
      this.#leave()
      if (folder !== undefined) this.#current = await ScriptFolder.open({ ...this.#options, folder })
    } else await this.#current?.reload()
    return this.#current?.server
  }

  /** Runs a script; `undefined` for the tool of another server. */
  run({ upstream, tool, input, ctx }: ProxiedCall, source: AdmittedCode, config: Config): Promise<ProxiedResult> | undefined {
    const code = source.codeOf(upstream, tool)
    if (code === undefined) return undefined
    const grants = matcher(scriptSettings(config)?.grants[tool] ?? [])
    return runScript({ name: tool, code, grants }, input, ctx)
  }

  async close(): Promise<void> {
    this.#leave()
    await Promise.all(this.#closing)
  }

  #leave(): void {
    const closing = this.#current?.[Symbol.asyncDispose]()
    this.#current = undefined
    if (closing === undefined) return
    this.#closing.add(closing)
    void closing.finally(() => this.#closing.delete(closing))
  }
}
