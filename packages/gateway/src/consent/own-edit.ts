import { isRecord } from '@unfold-mcp/core'
import { ConfigError } from '../config/problem.ts'
import { validateText } from '../config/read.ts'
import type { Config } from '../config/schema.ts'
import { changedParts, isSamePart, partAt, withApproved } from './guarded.ts'
import { ConsentFile } from './record.ts'

export interface OwnEdit {
  /** Text of the file before the edit; `undefined` if it did not exist. */
  readonly before: string | undefined
  readonly after: string
}

/**
 * Approves what an edit by the user changes, before the file is written, so that running gateways apply it. A part that somebody
 * else has edited since it was approved stays unapproved, because the user has seen only their own change.
 */
export async function approveOwnEdit(file: string, home: string, { before, after }: OwnEdit): Promise<void> {
  const [old, now] = [parsed(before ?? '{}', file), parsed(after, file)]
  if (old === undefined || now === undefined) return
  await new ConsentFile(home, file).update((stored) => {
    if (typeof stored !== 'object') return undefined
    const own = changedParts(old, now).filter(
      ({ path, before: part, after: next }) =>
        part === undefined || startsNothing(path, next) || isSamePart(path, part, partAt(stored.approved, path)),
    )
    return own.length === 0 ? undefined : { ...stored, approved: own.reduce(withApproved, stored.approved) }
  })
}

/** The server was removed or disabled. */
const startsNothing = ([section]: readonly string[], server: unknown): boolean =>
  section === 'mcpServers' && (server === undefined || (isRecord(server) && server.disabled === true))

function parsed(text: string, file: string): Config | undefined {
  try {
    return validateText(text, file).written
  } catch (error) {
    if (error instanceof ConfigError) return undefined
    throw error
  }
}
