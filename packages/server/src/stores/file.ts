import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ActivationStore } from './store.ts'

const format = 1

/**
 * Keeps activations in a folder, one small JSON file each, so they survive a restart. Files are replaced whole, so several
 * processes may share the folder; a file that is damaged or of another format counts as absent.
 */
export function fileStore(folder: string): ActivationStore {
  const fileOf = (key: string): string => join(folder, `${createHash('sha256').update(key).digest('hex')}.json`)
  return {
    async load(key) {
      const text = await readFile(fileOf(key), 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return undefined
        throw error
      })
      const saved = text === undefined ? undefined : parsed(text)
      return saved?.format === format && saved.key === key ? saved.activation : undefined
    },
    async save(key, activation) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const file = fileOf(key)
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

function parsed(text: string): { format?: unknown; key?: unknown; activation?: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}
