import { createHash } from 'node:crypto'
import { canonicalJson, isRecord, masked, maskedArgs, maskedText, maskedVariable, printable } from '@unfold-mcp/core'
import { freeServerSettings, type GuardedPart } from './guarded.ts'

/** One value that an edit changes; secrets are masked. */
export interface ConfigEditChange {
  /** Path within the part, such as `env.TOKEN`. */
  readonly path: string
  readonly before?: string
  readonly after?: string
}

/** An edit of the configuration file that waits for a person. */
export interface ConfigEdit {
  /** SHA-256 of the part and its new value; identifies the edit in a decision. */
  readonly digest: string
  /** Such as `mcpServers.git` or `trust`. */
  readonly path: string
  /** The server that it starts or changes. */
  readonly server?: string
  readonly isNew: boolean
  /** A person rejected it, but the file still contains it. */
  readonly isRejected: boolean
  readonly changes: readonly ConfigEditChange[]
}

export const editDigest = ({ path, after }: Pick<GuardedPart, 'path' | 'after'>): string =>
  createHash('sha256')
    .update(canonicalJson([path, after ?? null]))
    .digest('hex')

/** Describes an edit, without secrets. */
export function describeEdit(part: GuardedPart, isRejected: boolean): ConfigEdit {
  const [section, name = ''] = part.path
  return {
    digest: editDigest(part),
    path: part.path.map((each) => printable(each)).join('.'),
    ...(section === 'mcpServers' && { server: printable(name) }),
    isNew: part.before === undefined,
    isRejected,
    changes: changesOf(part),
  }
}

const tables = new Set(['env', 'headers'])

function changesOf({ path: [section = ''], before, after }: GuardedPart): readonly ConfigEditChange[] {
  if (!isRecord(after) || !(before === undefined || isRecord(before)))
    return [{ path: section, ...shown(section, 'before', before), ...shown(section, 'after', after) }]
  const [old, now] = [flattened(before ?? {}), flattened(after)]
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((key) => {
    const [one, other] = [old.get(key), now.get(key)]
    if (canonicalJson(one?.value ?? null) === canonicalJson(other?.value ?? null)) return []
    if (section === 'mcpServers' && freeServerSettings.includes(key)) return []
    // Defaults of a new server say nothing.
    if (before === undefined && isEmpty(other?.value)) return []
    return [{ path: printable(key, maxLength), ...shownEntry('before', one), ...shownEntry('after', other) }]
  })
}

interface Entry {
  readonly table: string
  readonly key: string
  readonly value: unknown
}

/** Environment variables and headers one by one. */
function flattened(value: { readonly [key: string]: unknown }): ReadonlyMap<string, Entry> {
  return new Map(
    Object.entries(value).flatMap(([key, each]): readonly (readonly [string, Entry])[] =>
      tables.has(key) && isRecord(each)
        ? Object.entries(each).map(([name, text]) => [`${key}.${name}`, { table: key, key: name, value: text }])
        : [[key, { table: '', key, value: each }]],
    ),
  )
}

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === false ||
  (Array.isArray(value) && value.length === 0) ||
  (isRecord(value) && Object.keys(value).length === 0)

const shownEntry = (side: 'before' | 'after', entry: Entry | undefined): { readonly [side: string]: string } =>
  entry === undefined ? {} : { [side]: printable(maskedEntry(entry), maxLength) }

const shown = (key: string, side: 'before' | 'after', value: unknown): { readonly [side: string]: string } =>
  shownEntry(side, value === undefined ? undefined : { table: '', key, value })

// What is cut cannot be reviewed.
const maxLength = 100_000

function maskedEntry({ table, key, value }: Entry): string {
  if (table === 'env' && typeof value === 'string') return maskedVariable(key, value)
  if (table === 'headers' && typeof value === 'string') return masked(value)
  if (key === 'args' && Array.isArray(value)) return JSON.stringify(maskedArgs(value.map(String)))
  return typeof value === 'string' ? maskedText(value) : JSON.stringify(value, maskedIn)
}

// Also hashes of tokens stay visible: they identify a token and are no secret.
const maskedIn = (key: string, value: unknown): unknown => {
  if (typeof value !== 'string' || key === 'hash') return value
  return key === 'apiKey' || key === 'secret' ? masked(value) : maskedText(value)
}
