import { basename } from 'node:path'
import { chainFiles, rotatedFiles } from './chain-files.ts'
import { readHead } from './head.ts'
import { type ChainPosition, emptyChain, follows, hashLine, parseRecord } from './record.ts'
import { readTail, type Tail } from './tail.ts'

/** How to continue an existing file. */
export interface Resumed {
  /** The next record follows on this position. */
  readonly after: ChainPosition
  /** What the next record says about the file, if anything is wrong with it. */
  readonly findings?: { readonly [field: string]: unknown }
  /** Whether an incomplete line must be ended first. */
  readonly endsLine: boolean
}

export interface ResumeOptions {
  /** The last record that this process wrote. */
  readonly written: ChainPosition | undefined
  /** Whether this process wrote to this very file, so that nobody else should have. */
  readonly isOwn: boolean
}

/**
 * Finds the end of a file that this process did not leave as it is. `undefined`: it contains no record at its end, so the chain
 * cannot continue in it. Nothing is rewritten; what was lost is recorded.
 */
export async function resumeFile(path: string, { written, isOwn }: ResumeOptions): Promise<Resumed | undefined> {
  const tail = await readTail(path)
  const known = written ?? (await readHead(path))
  if (tail.last === undefined) return undefined
  const completed = completedBy(tail, tail.last)
  const last = completed ?? tail.last
  const endsLine = tail.partial.length > 0
  const partial = endsLine && completed === undefined ? partialFields(tail) : {}
  const lost = known !== undefined && known.seq > last.seq ? { lost: { first: last.seq + 1, last: known.seq } } : {}
  const altered = known !== undefined && known.seq === last.seq && known.hash !== last.hash ? { altered: known.seq } : {}
  const foreign =
    isOwn && known !== undefined && known.seq < last.seq ? { foreign: { first: known.seq + 1, last: last.seq } } : {}
  const findings = { ...partial, ...lost, ...altered, ...foreign }
  return {
    after: { seq: Math.max(last.seq, known?.seq ?? 0), hash: last.hash },
    ...(Object.keys(findings).length > 0 && { findings }),
    endsLine,
  }
}

/** How a new file continues the chain. */
export interface Started {
  readonly after: ChainPosition
  readonly fields: { readonly [field: string]: unknown }
  /** Rotated files that are no longer kept. */
  readonly expired: readonly string[]
}

/** Finds the place at which a new file continues, and which rotated files to delete. */
export async function startFile(
  path: string,
  { written, keep }: { readonly written: ChainPosition | undefined; readonly keep: number | undefined },
): Promise<Started> {
  const rotated = await rotatedFiles(path)
  const newest = rotated.at(-1)
  const ends = written === undefined ? [await readHead(path), await tailPosition(newest?.path)] : [written]
  const after = ends.reduce<ChainPosition>((best, each) => (each !== undefined && each.seq > best.seq ? each : best), emptyChain)
  const expired = keep === undefined ? [] : rotated.slice(0, Math.max(0, rotated.length - keep)).map((file) => file.path)
  const kept = expired.length === 0 ? undefined : (await chainFiles(path)).find((file) => !expired.includes(file.path))
  return {
    after,
    fields: {
      file: (newest?.number ?? 0) + 1,
      ...(newest !== undefined && { previousFile: basename(newest.path) }),
      // The new file itself if no other is kept.
      ...(expired.length > 0 && { keptFrom: kept?.first?.seq ?? after.seq + 1 }),
    },
    expired,
  }
}

/** Describes an incomplete line, so that it can be recognised later. */
export const partialFields = ({ partial }: Pick<Tail, 'partial'>): { readonly [field: string]: unknown } => ({
  partialBytes: partial.length,
  partialHash: hashLine(partial),
})

/** Position of an incomplete line that lacks only its line feed. */
function completedBy({ partial }: Tail, last: ChainPosition): ChainPosition | undefined {
  const record = parseRecord(partial)
  return record !== undefined && follows(record, last) ? { seq: record.seq, hash: hashLine(partial) } : undefined
}

const tailPosition = async (path: string | undefined): Promise<ChainPosition | undefined> =>
  path === undefined ? undefined : (await readTail(path).catch(() => undefined))?.last
