import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isRecord } from '@unfold-mcp/core'
import { writePrivate } from '../base/private-file.ts'
import { readText } from './formats/text.ts'

export interface PrivateStoreOptions<T> {
  /** File name in the folder. */
  readonly name: string
  readonly format: string
  /** Property that holds the items. */
  readonly key: string
  readonly isItem: (value: unknown) => value is T
  /** Permissions of group and others that make the file unsafe, and what to tell the user. */
  readonly forbidden: { readonly mode: number; readonly message: string }
  /** Effect of ignoring the file. */
  readonly consequence: string
  readonly warn: (message: string) => void
}

export interface PrivateStore<T> {
  readonly file: string
  readonly list: () => Promise<readonly T[]>
  readonly save: (items: readonly T[]) => Promise<void>
}

const version = 1

/** A JSON file that only its owner can read. Ignores, with a warning, a file that is damaged or has unsafe permissions. */
export function privateStore<T>(folder: string, options: PrivateStoreOptions<T>): PrivateStore<T> {
  const { format, key, isItem, forbidden, consequence, warn } = options
  const file = join(folder, options.name)
  const unsafe = async (): Promise<string | undefined> => {
    if (process.platform === 'win32') return undefined
    const { mode, uid } = await stat(file)
    if (uid !== process.getuid?.()) return 'The file belongs to another user.'
    return (mode & forbidden.mode) === 0 ? undefined : forbidden.message
  }
  const itemsIn = (text: string): readonly T[] | undefined => {
    try {
      const value: unknown = JSON.parse(text)
      if (!isRecord(value) || value.format !== format || value.version !== version) return undefined
      const items = value[key]
      return Array.isArray(items) ? items.filter(isItem) : undefined
    } catch {
      return undefined
    }
  }
  return {
    file,
    list: async () => {
      const read = await readText(file)
      if (read === undefined) return []
      const problem = 'problem' in read ? read.problem : await unsafe()
      const items = problem === undefined && 'text' in read ? itemsIn(read.text) : undefined
      if (items === undefined)
        warn(`Ignoring ${file}; ${consequence}. ${problem ?? 'The file is damaged, or from a newer version.'}`)
      return items ?? []
    },
    save: (items) => writePrivate(folder, file, { format, version, [key]: items }),
  }
}
