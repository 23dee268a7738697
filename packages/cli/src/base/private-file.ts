import { randomUUID } from 'node:crypto'
import { mkdir, open, rename, rm } from 'node:fs/promises'

/** Writes JSON atomically to a file that only its owner can read; creates the folder. */
export async function writePrivate(folder: string, file: string, value: unknown): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const draft = `${file}.${randomUUID()}.tmp`
  try {
    const handle = await open(draft, 'wx', 0o600)
    try {
      await handle.writeFile(`${JSON.stringify(value, null, 2)}\n`)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}
