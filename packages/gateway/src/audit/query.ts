import { stat } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { ByteLines } from '@unfold-mcp/core'
import { openRegularFile } from '@unfold-mcp/core/files'
import { matcher } from '../names/pattern.ts'
import { chainFiles, chainPaths } from './chain-files.ts'
import { readLines } from './lines.ts'
import { type AuditRecord, parseRecord } from './record.ts'

/** Which records to show. Patterns may contain `*`. */
export interface AuditFilter {
  readonly server?: string | undefined
  readonly tool?: string | undefined
  readonly client?: string | undefined
  readonly outcome?: string | undefined
  readonly type?: string | undefined
  /** Milliseconds since 1970. */
  readonly since?: number | undefined
}

/** Returns a function that decides whether a record is shown. */
export function recordFilter({ since, server, ...patterns }: AuditFilter): (record: AuditRecord) => boolean {
  const tests = Object.entries({ ...patterns, upstream: server }).flatMap(([field, pattern]) => {
    if (pattern === undefined) return []
    const matches = matcher([pattern])
    return [(record: AuditRecord) => typeof record[field] === 'string' && matches(record[field])]
  })
  return (record) => (since === undefined || Date.parse(record.at) >= since) && tests.every((test) => test(record))
}

/** Returns the last matching records of all chains, in order of time. */
export async function lastRecords(
  path: string,
  { limit, matches }: { readonly limit: number; readonly matches: (record: AuditRecord) => boolean },
): Promise<readonly AuditRecord[]> {
  const found: Timed[] = []
  for (const chain of await chainPaths(path)) {
    const inChain: AuditRecord[] = []
    for (const file of (await chainFiles(chain)).toReversed()) {
      inChain.unshift(...(await lastInFile(file.path, limit, matches)))
      if (inChain.length >= limit) break
    }
    found.push(...timed(inChain))
  }
  return found
    .toSorted((one, other) => (one.time < other.time ? -1 : one.time > other.time ? 1 : 0))
    .slice(-limit)
    .map(({ record }) => record)
}

interface Timed {
  readonly time: string
  readonly record: AuditRecord
}

// Records of one chain keep their order: one that waited for the disk is older than the one before it.
function timed(records: readonly AuditRecord[]): readonly Timed[] {
  let time = ''
  return records.map((record) => {
    if (record.at > time) time = record.at
    return { time, record }
  })
}

async function lastInFile(
  path: string,
  limit: number,
  matches: (record: AuditRecord) => boolean,
): Promise<readonly AuditRecord[]> {
  const found: AuditRecord[] = []
  for await (const { bytes } of readLines(path)) {
    const record = parseRecord(bytes)
    if (record === undefined || !matches(record)) continue
    found.push(record)
    if (found.length > 2 * limit) found.splice(0, limit)
  }
  return found.slice(-limit)
}

const pollMs = 250

/** Follows all chains of a log from their current end. */
export class AuditFollower implements AsyncDisposable {
  readonly #path: string
  readonly #followers = new Map<string, Follower>()

  /** Resolves when the current end is known: later records are not missed. */
  static async open(path: string): Promise<AuditFollower> {
    const follower = new AuditFollower(path)
    for (const chain of await chainPaths(path)) follower.#followers.set(chain, await Follower.atEnd(chain))
    return follower
  }

  private constructor(path: string) {
    this.#path = path
  }

  /** Yields records as they are written, until `signal` is aborted. */
  async *records(signal: AbortSignal): AsyncGenerator<AuditRecord> {
    while (!signal.aborted) {
      for (const chain of await chainPaths(this.#path)) {
        const follower = this.#followers.get(chain) ?? new Follower(chain)
        this.#followers.set(chain, follower)
        yield* follower.read()
      }
      await wait(pollMs, undefined, { signal }).catch(() => undefined)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#followers.values()].map((follower) => follower.close()))
  }
}

/** Reads what is added to a chain. */
class Follower {
  readonly #path: string
  #handle: Awaited<ReturnType<typeof openRegularFile>> | undefined
  #at = 0
  /** The last record that was read. */
  #seq = 0
  #lines = new ByteLines({ allocate: (size) => Buffer.allocUnsafe(size) })

  static async atEnd(path: string): Promise<Follower> {
    const follower = new Follower(path)
    if (!(await follower.#open())) return follower
    // Reads up to the current end.
    for await (const _record of follower.#rest());
    return follower
  }

  constructor(path: string) {
    this.#path = path
  }

  async *read(): AsyncGenerator<AuditRecord> {
    if (this.#handle === undefined && !(await this.#open())) return
    yield* this.#rest()
    const current = await stat(this.#path).catch(() => undefined)
    if (current === undefined || current.ino === (await this.#handle?.stat())?.ino) return
    // Rotated: it may have been rotated more than once since.
    yield* this.#rest()
    await this.close()
    // Opened before the folder is read, which then has all files before it, even if the log is rotated again in between.
    const isOpen = await this.#open()
    for (const { path, first } of await chainFiles(this.#path))
      if (first !== undefined && first.seq > this.#seq && path !== this.#path)
        for await (const { bytes } of readLines(path)) yield* this.#next(bytes)
    if (isOpen) yield* this.#rest()
  }

  async close(): Promise<void> {
    await this.#handle?.close()
    this.#handle = undefined
  }

  async #open(): Promise<boolean> {
    this.#handle = await openRegularFile(this.#path).catch(() => undefined)
    this.#at = 0
    this.#lines = new ByteLines({ allocate: (size) => Buffer.allocUnsafe(size) })
    return this.#handle !== undefined
  }

  async *#rest(): AsyncGenerator<AuditRecord> {
    for (;;) {
      const chunk = Buffer.allocUnsafe(65_536)
      const { bytesRead = 0 } = (await this.#handle?.read(chunk, 0, chunk.length, this.#at)) ?? {}
      if (bytesRead === 0) return
      this.#at += bytesRead
      for (const line of this.#lines.add(chunk.subarray(0, bytesRead))) if (line !== undefined) yield* this.#next(line)
    }
  }

  *#next(line: Uint8Array): Generator<AuditRecord> {
    const record = parseRecord(line)
    if (record === undefined || record.seq <= this.#seq) return
    this.#seq = record.seq
    yield record
  }
}
