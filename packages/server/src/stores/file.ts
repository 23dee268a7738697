import { createHash } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isRecord } from '@unfold-mcp/core'
import { FileKindError, readRegularFile, replaceFile } from '@unfold-mcp/core/files'
import type { ActivationStore } from './store.ts'

const format = 1

/**
 * Stores each activation in a JSON file of a folder, so that it survives a restart. Writes are atomic, so several processes may
 * share the folder. A damaged file, or one of another format, counts as absent.
 */
export function fileStore(folder: string): ActivationStore {
  const pathFor = (key: string): string => join(folder, `${createHash('sha256').update(key).digest('hex')}.json`)
  return {
    async load(key) {
      const bytes = await readRegularFile(pathFor(key)).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT' || error instanceof FileKindError) return undefined
        throw error
      })
      const saved = bytes === undefined ? undefined : parse(bytes.toString('utf8'))
      return saved?.format === format && saved.key === key ? saved.activation : undefined
    },
    async save(key, activation) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await replaceFile(pathFor(key), JSON.stringify({ format, key, activation }), { isDurable: false })
    },
  }
}

function parse(text: string): { format?: unknown; key?: unknown; activation?: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}
