import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Writes a file and the folders above it. */
export async function putFile(file: string, content: string | object): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content, undefined, 2))
}

/** Adds keys to an object inside a JSON file. */
export async function mergeJson(file: string, section: string, entries: object): Promise<void> {
  const before = JSON.parse(await readFile(file, 'utf8').catch(() => '{}')) as Record<string, object>
  await putFile(file, { ...before, [section]: { ...before[section], ...entries } })
}
