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
  const found: AuditRecord[] = []
  for (const chain of await chainPaths(path))
    for (const file of (await chainFiles(chain)).toReversed()) {
      const inFile: AuditRecord[] = []
      for await (const { bytes } of readLines(file.path)) {
        const record = parseRecord(bytes)
        if (record === undefined || !matches(record)) continue
        inFile.push(record)
        if (inFile.length > 2 * limit) inFile.splice(0, limit)
      }
      found.push(...inFile.slice(-limit))
      if (inFile.length >= limit) break
    }
  return found.toSorted((a, b) => a.at.localeCompare(b.at) || a.seq - b.seq).slice(-limit)
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

/** Reads what is added to the current file of a chain, and goes on with the next file when it is rotated. */
class Follower {
  readonly #path: string
  #handle: Awaited<ReturnType<typeof openRegularFile>> | undefined
  #at = 0
  #lines = new ByteLines({ allocate: Buffer.allocUnsafe })

  static async atEnd(path: string): Promise<Follower> {
    const follower = new Follower(path)
    if (await follower.#open()) follower.#at = (await follower.#handle?.stat())?.size ?? 0
    return follower
  }

  constructor(path: string) {
    this.#path = path
  }

  async *read(): AsyncGenerator<AuditRecord> {
    if (this.#handle === undefined && !(await this.#open())) return
    for (;;) {
      const current = await stat(this.#path).catch(() => undefined)
      const isReplaced = current !== undefined && current.ino !== (await this.#handle?.stat())?.ino
      yield* this.#rest()
      if (!isReplaced) return
      await this.close()
      if (!(await this.#open())) return
    }
  }

  async close(): Promise<void> {
    await this.#handle?.close()
    this.#handle = undefined
  }

  async #open(): Promise<boolean> {
    this.#handle = await openRegularFile(this.#path).catch(() => undefined)
    this.#at = 0
    this.#lines = new ByteLines({ allocate: Buffer.allocUnsafe })
    return this.#handle !== undefined
  }

  async *#rest(): AsyncGenerator<AuditRecord> {
    for (;;) {
      const chunk = Buffer.allocUnsafe(65_536)
      const { bytesRead = 0 } = (await this.#handle?.read(chunk, 0, chunk.length, this.#at)) ?? {}
      if (bytesRead === 0) return
      this.#at += bytesRead
      for (const line of this.#lines.add(chunk.subarray(0, bytesRead))) {
        const record = line === undefined ? undefined : parseRecord(line)
        if (record !== undefined) yield record
      }
    }
  }
}
