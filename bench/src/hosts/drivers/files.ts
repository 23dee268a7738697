import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Writes a file and creates its parent folders. */
export async function putFile(file: string, content: string | object): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content, undefined, 2))
}
