import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isRecord } from '@unfold-mcp/core'
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
      const text = await readFile(pathFor(key), 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return undefined
        throw error
      })
      const saved = text === undefined ? undefined : parse(text)
      return saved?.format === format && saved.key === key ? saved.activation : undefined
    },
    async save(key, activation) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const file = pathFor(key)
      const draft = `${file}.${randomUUID()}.tmp`
      try {
        await writeFile(draft, JSON.stringify({ format, key, activation }), { mode: 0o600 })
        await rename(draft, file)
      } catch (error) {
        await rm(draft, { force: true })
        throw error
      }
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
