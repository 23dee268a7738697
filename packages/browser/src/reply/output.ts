import { mkdir, open, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { ToolError } from '@unfold-mcp/server'

const name = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/u

/** Writes a generated document to the output folder; never overwrites a file. */
export async function writeOutput(
  folder: string,
  file: string,
  text: string,
): Promise<{ readonly path: string; readonly bytes: number }> {
  if (!name.test(file) || file.includes('..'))
    throw new ToolError(
      'Invalid file name. Use letters, digits, dots, hyphens and underscores, without folders, such as checkout-bug.har.',
    )
  await mkdir(folder, { recursive: true })
  const path = join(await realpath(folder), file)
  const bytes = Buffer.from(text)
  try {
    // `wx` follows no link and replaces no file.
    const handle = await open(path, 'wx', 0o600)
    try {
      await handle.writeFile(bytes)
    } finally {
      await handle.close()
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw new ToolError(`${path} already exists. Choose another name.`)
    throw new ToolError(`${path} could not be written: ${error instanceof Error ? error.message : String(error)}`)
  }
  return { path, bytes: bytes.length }
}
