import { closeSync, readdirSync, readSync, rmSync } from 'node:fs'
import { isRecord, isTool, type Tool } from '@unfold-mcp/core'
import { openRegularFileSync, readRegularFileSync } from '@unfold-mcp/core/files'
import type { KnownTool } from './candidate.ts'
import type { CompletionCache } from './complete.ts'
import { readToolIndex, type ToolIndex, writeToolIndex } from './tool-index.ts'

export interface CompletionFolders {
  readonly tools: string
  readonly indexes: string
}

export const completionFolders = (data: string): CompletionFolders => ({
  tools: `${data}/cache/tools`,
  indexes: `${data}/cache/completion`,
})

/**
 * Completion data from the tool cache. Reads only server names until the tools of one server are needed. Skips unreadable files,
 * since completion cannot report errors.
 */
export function completionCache(
  folders: CompletionFolders,
  { defaultServer }: { readonly defaultServer?: string | undefined } = {},
): CompletionCache {
  const files = new Map<string, string[]>()
  for (const { file, server } of cachedFiles(folders)) files.set(server, [...(files.get(server) ?? []), file])
  const toolIndex = (file: string): ToolIndex =>
    readToolIndex(indexPath(folders, file), `${folders.tools}/${file}`) ?? unprepared(toolsIn(folders, file))
  const servers: CompletionCache['servers'] = Object.fromEntries(
    Array.from(files, ([name, theirs]) => [
      name,
      {
        get tools(): readonly KnownTool[] {
          return theirs.flatMap((file) => toolIndex(file).tools)
        },
        tool(wanted: string): KnownTool | undefined {
          return theirs.map((file) => toolIndex(file).tool(wanted)).find((tool) => tool !== undefined)
        },
      },
    ]),
  )
  return { servers, defaultServer }
}

/** Updates the indexes of changed tool lists. Called after commands that may change the tool cache. */
export async function refreshToolIndexes(folders: CompletionFolders): Promise<void> {
  const present = new Set<string>()
  for (const { file } of cachedFiles(folders)) {
    present.add(`${file}.txt`)
    const source = `${folders.tools}/${file}`
    if (readToolIndex(indexPath(folders, file), source) !== undefined) continue
    const { knownFlags } = await import('./flags.ts')
    const tools = toolsIn(folders, file).map((tool) => ({ ...tool, flags: knownFlags(tool) }))
    try {
      await writeToolIndex(indexPath(folders, file), source, tools)
    } catch {
      // Completion works without an index, only slower.
      return
    }
  }
  for (const file of namesIn(folders.indexes)) if (!present.has(file)) rmSync(`${folders.indexes}/${file}`, { force: true })
}

const unprepared = (tools: readonly KnownTool[]): ToolIndex => ({
  tools,
  tool: (name) => tools.find((tool) => tool.name === name),
})

const indexPath = ({ indexes }: CompletionFolders, file: string): string => `${indexes}/${file}.txt`

function cachedFiles({ tools }: CompletionFolders): readonly { readonly file: string; readonly server: string }[] {
  return namesIn(tools).flatMap((file) => {
    const server = file.endsWith('.json') ? serverOf(`${tools}/${file}`) : undefined
    return server === undefined ? [] : [{ file, server }]
  })
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort()
  } catch {
    return []
  }
}

const beginning = /^\{"format":"unfold-tool-cache","version":1,"name":("(?:[^"\\]|\\.)*")/u

/** The name is at the beginning of the file. */
function serverOf(path: string): string | undefined {
  try {
    const bytes = Buffer.alloc(512)
    const file = openRegularFileSync(path)
    const length = readSync(file, bytes, 0, bytes.length, 0)
    closeSync(file)
    const [, name] = beginning.exec(bytes.subarray(0, length).toString()) ?? []
    return name === undefined ? undefined : String(JSON.parse(name))
  } catch {
    return undefined
  }
}

function toolsIn({ tools: folder }: CompletionFolders, file: string): readonly Tool[] {
  try {
    const value: unknown = JSON.parse(readRegularFileSync(`${folder}/${file}`).toString('utf8'))
    const tools = isRecord(value) ? value.tools : undefined
    return Array.isArray(tools) ? tools.filter(isTool) : []
  } catch {
    return []
  }
}
