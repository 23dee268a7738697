import { readdir, realpath } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { ByteLines } from '@unfold-mcp/core'
import { openRegularFile } from '@unfold-mcp/core/files'
import { type AuditRecord, parseRecord } from './record.ts'

/** Path of the nth chain: `calls.jsonl`, `calls-2.jsonl` and so on. Each gateway process that runs at the same time has its own. */
export function chainPath(path: string, chain: number): string {
  if (chain === 1) return path
  const extension = extname(path)
  return join(dirname(path), `${basename(path, extension)}-${chain}${extension}`)
}

/** Path of a rotated file. A higher number is a newer file, and a file keeps its number. */
export const rotatedPath = (path: string, number: number): string => `${path}.${number}`

/** One file of a chain. */
export interface ChainFile {
  readonly path: string
  /** Its first record; absent if its first line is not a record. */
  readonly first?: AuditRecord
}

/** Follows symbolic links; the file itself need not exist. */
export const resolvedPath = (path: string): Promise<string> =>
  realpath(path).catch(async () => join(await realpath(dirname(path)).catch(() => dirname(path)), basename(path)))

/** Returns the rotated files of a chain by number, oldest first. */
export async function rotatedFiles(path: string): Promise<readonly { readonly number: number; readonly path: string }[]> {
  const prefix = `${basename(path)}.`
  const names = await readdir(dirname(path)).catch(() => [])
  return names
    .flatMap((name) => {
      const number = name.startsWith(prefix) ? name.slice(prefix.length) : ''
      return /^[1-9]\d{0,14}$/u.test(number) ? [{ number: Number(number), path: join(dirname(path), name) }] : []
    })
    .toSorted((a, b) => a.number - b.number)
}

const notRecords = /\.(?:head|lock|gz|zst|xz|bz2)$|\.lock\./u

/** Returns the files of a chain, oldest first, including ones that another program renamed within the folder. */
export async function chainFiles(path: string): Promise<readonly ChainFile[]> {
  const current = await resolvedPath(path)
  const prefix = `${basename(current)}.`
  const names = await readdir(dirname(current)).catch(() => [])
  const found = names.filter((name) => name === basename(current) || (name.startsWith(prefix) && !notRecords.test(name)))
  const files = await Promise.all(
    found.map(async (name): Promise<readonly ChainFile[]> => {
      const file = join(dirname(current), name)
      const line = await firstLine(file).catch(() => undefined)
      if (line === undefined) return []
      const first = await firstRecord(file, line)
      return [{ path: file, ...(first !== undefined && { first }) }]
    }),
  )
  return files.flat().toSorted((a, b) => (a.first?.seq ?? 0) - (b.first?.seq ?? 0) || a.path.localeCompare(b.path))
}

/** Paths of all chains of a configured path that have files. */
export async function chainPaths(path: string): Promise<readonly string[]> {
  const current = await resolvedPath(path)
  const extension = extname(current)
  const stem = basename(current, extension)
  const names = await readdir(dirname(current)).catch(() => [])
  const numbers = names.flatMap((name) => {
    const rest = name.startsWith(`${stem}-`) ? name.slice(stem.length + 1) : ''
    const [, number = '', ending = ''] = /^([2-9]|[1-9]\d)(\D.*)?$/u.exec(rest) ?? []
    return number !== '' && (ending === extension || ending.startsWith(`${extension}.`)) ? [Number(number)] : []
  })
  return [1, ...new Set(numbers.toSorted((a, b) => a - b))].map((number) => chainPath(current, number))
}

const maxFirstLine = 1_048_576

/** Returns the first line, also if it is not complete; `undefined` if the file is empty. */
async function firstLine(file: string, skipped = 0): Promise<Uint8Array | undefined> {
  await using handle = await openRegularFile(file)
  const lines = new ByteLines({ allocate: (size) => Buffer.allocUnsafe(size) })
  const chunk = Buffer.alloc(65_536)
  let seen = 0
  for (let at = 0; at < maxFirstLine; ) {
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, at)
    if (bytesRead === 0) break
    at += bytesRead
    for (const line of lines.add(Buffer.from(chunk.subarray(0, bytesRead)))) if (seen++ === skipped) return line
  }
  return lines.rest()
}

// A process that was killed while it wrote the first record of a file leaves a partial line before it.
async function firstRecord(file: string, line: Uint8Array): Promise<AuditRecord | undefined> {
  const first = parseRecord(line)
  if (first !== undefined) return first
  const second = parseRecord((await firstLine(file, 1)) ?? Buffer.alloc(0))
  return second?.type === 'file' ? second : undefined
}
