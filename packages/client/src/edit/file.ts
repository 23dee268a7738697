import { mkdir, realpath, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { FileKindError, readRegularFile, replaceFile } from '@unfold-mcp/core/files'
import { LockError, withLock } from '../config/file-lock.ts'
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

// An edit takes milliseconds.
const locking = { staleMs: 10_000, timeoutMs: 60_000 }
const maxAttempts = 5

/**
 * Writes an edit atomically, with a numbered backup next to the file. Follows symbolic links. If the file changed since it was
 * read, the edit is applied to the new text. Commands that edit the same file take turns; a program that does not use the lock
 * file, such as an editor, is noticed until immediately before the file is replaced.
 */
export async function writeEdit(plan: PlannedEdit): Promise<Written> {
  try {
    const target = await realpath(plan.file).catch(() => plan.file)
    await mkdir(dirname(target), { recursive: true })
    return await withLock(`${target}.lock`, locking, () => replaceEdited(target, plan))
  } catch (error) {
    if (error instanceof LockError) throw new EditError(`${plan.file} was not changed. ${error.message}.`, { cause: error })
    if (codeOf(error) === 'unknown') throw error
    const reason = `(${codeOf(error)}). Check the permissions and the free space of its folder.`
    throw new EditError(`${plan.file} was not changed ${reason}`, { cause: error })
  }
}

async function replaceEdited(target: string, { file, before, after, edit }: PlannedEdit): Promise<Written> {
  let basis = before
  let wanted = after
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const now = await textOf(target)
    if (now?.text !== basis) {
      basis = now?.text
      wanted = edited(file, basis ?? '', edit)
    }
    let backup: string | undefined
    const isReplaced = await replaceFile(target, `${now?.mark ?? ''}${wanted}`, {
      mode: await modeOf(target),
      confirm: async () => {
        if ((await textOf(target))?.text !== basis) return false
        backup = basis === undefined ? undefined : await createBackup(target)
        return true
      },
    })
    if (isReplaced) return { file: target, backup }
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
    bytes = await readRegularFile(file)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    if (error instanceof FileKindError)
      throw new EditError(`${file} was not changed. It is ${error.kind}, not a regular file.`, { cause: error })
    throw new EditError(`${file} cannot be read (${codeOf(error)}).`, { cause: error })
  }
  const text = bytes.toString('utf8')
  // Invalid UTF-8 would be changed by writing it back.
  if (!Buffer.from(text).equals(bytes)) throw new EditError(`${file} was not changed. It is not valid UTF-8.`)
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : ''
  return { text: text.slice(mark.length), mark }
}

/** Keeps the permissions of the target. A new file is private, since it may contain secrets. */
const modeOf = (target: string): Promise<number> =>
  stat(target).then(
    ({ mode }) => mode & 0o777,
    () => 0o600,
  )

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : 'unknown')
