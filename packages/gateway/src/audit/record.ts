import { createHash } from 'node:crypto'

/** Kinds of records. `file`, `recovered` and `missing` are about the log itself. */
export type AuditType =
  | 'call'
  | 'rejection'
  | 'approval'
  | 'trust'
  | 'policy'
  | 'finding'
  | 'token'
  | 'config'
  | 'script'
  | 'start'
  | 'stop'
  | 'file'
  | 'recovered'
  | 'missing'

/** Content of a record before it has a place in a chain. */
export interface AuditEntry {
  readonly at: string
  readonly type: AuditType
  readonly [field: string]: unknown
}

/** One line of an audit file. */
export interface AuditRecord extends AuditEntry {
  /** Position in the chain, counted from 1 across all its files. */
  readonly seq: number
  /** SHA-256 of the line of the record before it. */
  readonly previous: string
}

/** The last record of a chain. */
export interface ChainPosition {
  readonly seq: number
  readonly hash: string
}

/** A chain without records. */
export const emptyChain: ChainPosition = { seq: 0, hash: '0'.repeat(64) }

export const hashLine = (line: string | Uint8Array): string => createHash('sha256').update(line).digest('hex')

/** Encodes an entry as the record after `position`; `line` ends with a line feed. */
export function encodeRecord(
  { seq, hash }: ChainPosition,
  { at, type, ...fields }: AuditEntry,
): { readonly line: Buffer; readonly position: ChainPosition } {
  const text = JSON.stringify({ seq: seq + 1, at, type, ...fields, previous: hash })
  return { line: Buffer.from(`${text}\n`), position: { seq: seq + 1, hash: hashLine(text) } }
}

const hex = /^[0-9a-f]{64}$/u

/** Reads a line without its line feed; `undefined` if it is not a record. */
export function parseRecord(line: Uint8Array): AuditRecord | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(line.buffer, line.byteOffset, line.length).toString('utf8'))
    if (typeof value !== 'object' || value === null) return undefined
    const { seq, at, type, previous } = value as Partial<AuditRecord>
    const isRecord =
      Number.isSafeInteger(seq) &&
      Number(seq) > 0 &&
      typeof at === 'string' &&
      typeof type === 'string' &&
      typeof previous === 'string' &&
      hex.test(previous)
    return isRecord ? (value as AuditRecord) : undefined
  } catch {
    return undefined
  }
}

/** True if `record` follows directly on `position`. */
export const follows = ({ seq, previous }: AuditRecord, position: ChainPosition): boolean =>
  seq === position.seq + 1 && previous === position.hash
