import { randomUUID } from 'node:crypto'
import { chmod, mkdir, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createBackup } from './backup.ts'
import { type Edit, EditError } from './edit.ts'

export interface PlannedEdit {
  readonly file: string
  /** Current text without a byte order mark; undefined if the file does not exist. */
  readonly before: string | undefined
  readonly after: string
  readonly isChanged: boolean
  readonly edit: Edit
}

export interface Written {
  readonly file: string
  readonly backup: string | undefined
}

/** Computes an edit without writing it. */
export async function planEdit(file: string, edit: Edit): Promise<PlannedEdit> {
  const read = await textOf(file)
  const after = edited(file, read?.text ?? '', edit)
  return { file, before: read?.text, after, isChanged: after !== (read?.text ?? ''), edit }
}

const maxAttempts = 5

/**
 * Writes an edit atomically, with a numbered backup next to the file. Follows symbolic links. If the file changed since it was
 * read, the edit is applied to the new text.
 */
export async function writeEdit({ file, before, after, edit }: PlannedEdit): Promise<Written> {
  const target = await realpath(file).catch(() => file)
  await mkdir(dirname(target), { recursive: true })
  let basis = before
  let wanted = after
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const now = await textOf(target)
    if (now?.text !== basis) {
      basis = now?.text
      wanted = edited(file, basis ?? '', edit)
    }
    const draft = await writeDraft(target, `${now?.mark ?? ''}${wanted}`)
    try {
      if ((await textOf(target))?.text !== basis) continue
      const backup = basis === undefined ? undefined : await createBackup(target)
      await rename(draft, target)
      return { file: target, backup }
    } finally {
      await rm(draft, { force: true })
    }
  }
  throw new EditError(`${file} is being changed by another program. Try again later.`)
}

function edited(file: string, text: string, edit: Edit): string {
  try {
    return edit(text)
  } catch (error) {
    if (!(error instanceof EditError)) throw error
    throw new EditError(`${file} was not changed. ${error.message}`, { cause: error })
  }
}

interface FileText {
  readonly text: string
  /** Byte order mark, if any. */
  readonly mark: string
}

async function textOf(file: string): Promise<FileText | undefined> {
  let bytes: Buffer
  try {
    bytes = await readFile(file)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw new EditError(`${file} cannot be read (${codeOf(error)}).`, { cause: error })
  }
  const text = bytes.toString('utf8')
  // Invalid UTF-8 would be changed by writing it back.
  if (!Buffer.from(text).equals(bytes)) throw new EditError(`${file} was not changed. It is not valid UTF-8.`)
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : ''
  return { text: text.slice(mark.length), mark }
}

/** Keeps the permissions of the target. A new file is private, since it may contain secrets. */
async function writeDraft(target: string, text: string): Promise<string> {
  const draft = `${target}.${randomUUID()}.tmp`
  const mode = await stat(target).then(
    (found) => found.mode & 0o777,
    () => 0o600,
  )
  const handle = await open(draft, 'wx', mode)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await chmod(draft, mode)
  return draft
}

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : 'unknown')
