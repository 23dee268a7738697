import { randomUUID } from 'node:crypto'
import type { Dirent } from 'node:fs'
import { lstat, open, readdir, rename, rm, rmdir, unlink, writeFile } from 'node:fs/promises'
import { dirname, join, posix } from 'node:path'
import { type Toolbox, ToolError } from '@unfold-mcp/server'
import { z } from 'zod'
import { type Folder, failed } from './folder.ts'

const maxBytes = 1_000_000
const maxEntries = 1_000

export const pathSchema = z
  .string()
  .min(1)
  .max(1_000)
  .refine((path) => !path.includes('\0'), 'must not hold NUL characters')
  .describe('Relative to the hub’s folder, such as notes/today.txt')
const encodingSchema = z.enum(['utf8', 'base64']).default('utf8').describe('base64 for what is not text')

export function addFileTools(hub: Toolbox<'file_ops'>, files: Folder): void {
  hub.tool(
    'read_file',
    {
      group: 'file_ops',
      description: `Read a file, or a part of it; at most ${maxBytes.toLocaleString('en')} bytes at once.`,
      inputSchema: z.object({
        path: pathSchema,
        encoding: encodingSchema,
        offset: z.int().min(0).default(0).describe('First byte to read'),
        length: z.int().min(1).max(maxBytes).optional().describe('How many bytes'),
      }),
      readOnly: true,
      openWorld: false,
    },
    async ({ path, encoding, offset, length }) => {
      const bytes = await readPart(await files.existing(path), { offset, length }).catch(failed(path))
      if (bytes === undefined) {
        throw new ToolError(`"${path}" has more than ${maxBytes} bytes. Read it in parts, with offset and length.`)
      }
      if (encoding === 'utf8' && bytes.includes(0)) throw new ToolError(`"${path}" is not text. Read it with encoding: "base64".`)
      return bytes.toString(encoding)
    },
  )

  hub.tool(
    'write_file',
    {
      group: 'file_ops',
      description: 'Write a file. What was in it is replaced, or kept with append: true. Missing folders are made.',
      inputSchema: z.object({
        path: pathSchema,
        content: z.string().max(4_000_000),
        encoding: encodingSchema,
        append: z.boolean().default(false),
      }),
      destructive: true,
      idempotent: false,
      openWorld: false,
    },
    async ({ path, content, encoding, append }) => {
      const location = await files.newPath(path)
      const before = append ? await wholeIfAny(files, path) : Buffer.alloc(0)
      const bytes = Buffer.concat([before, Buffer.from(content, encoding)])
      await replaceFile(location, bytes).catch(failed(path))
      return { path, bytes: bytes.length }
    },
  )

  hub.tool(
    'delete_file',
    {
      group: 'file_ops',
      description: 'Delete a file, a link or an empty folder.',
      inputSchema: z.object({ path: pathSchema }),
      destructive: true,
      openWorld: false,
    },
    async ({ path }) => {
      const location = await files.entry(path)
      const isFolder = (await lstat(location).catch(failed(path))).isDirectory()
      await (isFolder ? rmdir(location) : unlink(location)).catch(failed(path))
      return `Deleted ${path}.`
    },
  )

  hub.tool(
    'move_file',
    {
      group: 'file_ops',
      description: 'Move or rename a file or folder. An existing file is only replaced with overwrite: true.',
      inputSchema: z.object({ from: pathSchema, to: pathSchema, overwrite: z.boolean().default(false) }),
      destructive: true,
      openWorld: false,
    },
    async ({ from, to, overwrite }) => {
      const source = await files.entry(from)
      await lstat(source).catch(failed(from))
      const target = await files.newPath(to)
      if (!overwrite) await rejectExisting(target, to)
      await rename(source, target).catch(failed(to))
      return `Moved ${from} to ${to}.`
    },
  )

  hub.tool(
    'list_files',
    {
      group: 'file_ops',
      description: `List a folder: at most ${maxEntries.toLocaleString('en')} entries, by name.`,
      inputSchema: z.object({ path: pathSchema.default('.'), recursive: z.boolean().default(false) }),
      outputSchema: z.object({
        entries: z.array(
          z.object({
            path: z.string(),
            kind: z.enum(['file', 'folder', 'link', 'other']),
            bytes: z.int(),
            modified: z.iso.datetime(),
          }),
        ),
        truncated: z.boolean(),
      }),
      readOnly: true,
      openWorld: false,
    },
    async ({ path, recursive }) => {
      const location = await files.existing(path)
      const found = await readdir(location, { withFileTypes: true, recursive }).catch(failed(path))
      const named = found
        .map((entry) => ({ entry, path: posix.join(path, relativeTo(location, entry)) }))
        .sort((a, b) => (a.path < b.path ? -1 : 1))
      const entries = await Promise.all(named.slice(0, maxEntries).map((each) => described(each.entry, each.path)))
      return { entries, truncated: named.length > maxEntries }
    },
  )
}

/** Returns the requested bytes; `undefined` if they exceed the result limit. */
async function readPart(
  location: string,
  { offset, length }: { offset: number; length: number | undefined },
): Promise<Buffer | undefined> {
  await using file = await open(location)
  const { size } = await file.stat()
  const wanted = Math.max(0, Math.min(length ?? size, size - offset))
  if (wanted > maxBytes) return undefined
  const { buffer, bytesRead } = await file.read(Buffer.alloc(wanted), 0, wanted, offset)
  return buffer.subarray(0, bytesRead)
}

async function wholeIfAny(files: Folder, path: string): Promise<Buffer> {
  const location = await files.existing(path).catch((error: Error) => {
    if ((error.cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') return undefined
    throw error
  })
  if (location === undefined) return Buffer.alloc(0)
  await using file = await open(location).catch(failed(path))
  return file.readFile().catch(failed(path))
}

/** Replaces a file atomically. */
export async function replaceFile(location: string, bytes: string | Uint8Array): Promise<void> {
  const draft = draftPath(location)
  try {
    await writeFile(draft, bytes, { flag: 'wx' })
    await rename(draft, location)
  } finally {
    await rm(draft, { force: true })
  }
}

export const draftPath = (location: string): string => join(dirname(location), `.${randomUUID()}.tmp`)

export async function rejectExisting(location: string, path: string): Promise<void> {
  const taken = await lstat(location).catch(() => undefined)
  if (taken !== undefined) throw new ToolError(`"${path}" already exists. Choose another name, or pass overwrite: true.`)
}

const relativeTo = (location: string, { parentPath, name }: Dirent): string =>
  join(parentPath, name)
    .slice(location.length + 1)
    .replaceAll('\\', '/')

async function described(entry: Dirent, path: string) {
  const { size, mtime } = await lstat(join(entry.parentPath, entry.name)).catch(failed(path))
  const kind: 'file' | 'folder' | 'link' | 'other' = entry.isFile()
    ? 'file'
    : entry.isDirectory()
      ? 'folder'
      : entry.isSymbolicLink()
        ? 'link'
        : 'other'
  return { path, kind, bytes: size, modified: mtime.toISOString() }
}
