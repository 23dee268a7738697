import { randomUUID } from 'node:crypto'
import { chmod, open, rename, rm } from 'node:fs/promises'

export interface ReplaceOptions {
  /** Permissions of the file; default: 0o600. */
  readonly mode?: number
  /** Whether the new content survives a power failure; default: true. Costs several milliseconds on a slow disk. */
  readonly isDurable?: boolean
  /** Called when the new content is written, immediately before it replaces the file. With `false`, the old file stays. */
  readonly confirm?: () => Promise<boolean>
}

/**
 * Replaces a file atomically: readers find either the old or the new content, and a failure leaves the old one. Returns false if
 * `confirm` did.
 */
export async function replaceFile(
  path: string,
  content: string | Uint8Array,
  { mode = 0o600, isDurable = true, confirm }: ReplaceOptions = {},
): Promise<boolean> {
  const draft = `${path}.${randomUUID()}.tmp`
  try {
    const handle = await open(draft, 'wx', mode)
    try {
      await handle.writeFile(content)
      if (isDurable) await handle.sync()
    } finally {
      await handle.close()
    }
    // `open` applies the umask.
    if (mode !== 0o600) await chmod(draft, mode)
    if (confirm !== undefined && !(await confirm())) {
      await rm(draft, { force: true })
      return false
    }
    await rename(draft, path)
    return true
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}
