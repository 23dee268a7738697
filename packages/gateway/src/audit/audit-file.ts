import { constants, type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { errorMessage } from '../base/error-message.ts'
import { resolvedPath, rotatedFiles, rotatedPath } from './chain-files.ts'
import { type ChainLock, lockChain } from './chain-lock.ts'
import { writeHead } from './head.ts'
import { type AuditEntry, type AuditType, type ChainPosition, emptyChain, encodeRecord } from './record.ts'
import { partialFields, resumeFile, startFile } from './resume.ts'
import { readTail } from './tail.ts'

export interface AuditFileOptions {
  /** Called with the problem when a write fails, and with `undefined` when it succeeds. */
  readonly onStatus: (problem: string | undefined) => void
  /** Size at which the file is rotated. Default: never. */
  readonly maxBytes?: number | undefined
  /** Number of rotated files to keep. */
  readonly keep?: number | undefined
}

/** Where the log of this process ends. */
export interface AuditPosition extends ChainPosition {
  readonly file: string
}

// O_NONBLOCK: opening a pipe without a reader would block forever.
const openFlags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK
const maxQueuedLines = 1_000
const retryMs = 2_000
const maxAttempts = 5

/** Bytes that are about to be written. */
interface Chunk {
  readonly bytes: Buffer
  /** Position after it; absent for bytes that are not a record. */
  readonly position?: ChainPosition
  /** The record to encode again if the file is replaced before it is written; absent for records about the file itself. */
  readonly entry?: AuditEntry
}

/** The file as it was after the last write. */
interface FileEnd {
  readonly dev: number
  readonly ino: number
  size: number
}

/**
 * Appends records to a hash chain, in order. Records that cannot be written are queued up to a limit and retried; records beyond the
 * limit are counted, and the count is written.
 */
export class AuditFile {
  readonly #path: string
  readonly #options: AuditFileOptions
  #lock: ChainLock | undefined
  #queue: AuditEntry[] = []
  #chunks: Chunk[] = []
  /** Bytes of the first chunk that are written. */
  #written = 0
  #missing = 0
  /** The last record that is written completely. */
  #position: ChainPosition | undefined
  #end: FileEnd | undefined
  /** Rotated files to delete once the new file says so. */
  #expired: readonly string[] = []
  #rotationProblem: string | undefined
  #isOpening = false
  #flushing: Promise<boolean> = Promise.resolve(true)
  #scheduled: Promise<boolean> | undefined
  #retry: NodeJS.Timeout | undefined

  constructor(path: string, options: AuditFileOptions) {
    this.#path = path
    this.#options = options
  }

  /** The last record that was written; absent before the first one. */
  get position(): AuditPosition | undefined {
    return this.#position === undefined ? undefined : { file: this.#lock?.path ?? this.#path, ...this.#position }
  }

  /** Creates the file, or reports why that failed. */
  async open(): Promise<void> {
    this.#isOpening = true
    await this.#flush()
  }

  /** Resolves to true when the record and all before it are written, to false if writing fails. */
  write(type: AuditType, fields: object = {}): Promise<boolean> {
    const waiting = this.#queue.length + this.#chunks.filter(({ entry }) => entry !== undefined).length
    if (waiting <= maxQueuedLines) this.#queue.push({ at: now(), type, ...fields })
    else this.#missing++
    return this.#flush()
  }

  async close(): Promise<void> {
    await this.#flush()
    clearTimeout(this.#retry)
    await this.#lock?.release().catch(() => undefined)
  }

  #flush(): Promise<boolean> {
    // One that has not started yet writes what is queued now.
    if (this.#scheduled !== undefined) return this.#scheduled
    this.#scheduled = this.#flushing.then(() => {
      this.#scheduled = undefined
      return this.#drain()
    })
    this.#flushing = this.#scheduled
    return this.#flushing
  }

  async #drain(): Promise<boolean> {
    clearTimeout(this.#retry)
    if (!this.#isOpening && this.#chunks.length === 0 && this.#queue.length === 0) return true
    try {
      await this.#append()
      this.#isOpening = false
      this.#options.onStatus(this.#rotationProblem)
      return true
    } catch (error) {
      this.#options.onStatus(
        `cannot write ${this.#path}: ${errorMessage(error)}. Check the folder, the permissions and the free disk space.`,
      )
      this.#retry = setTimeout(() => void this.#flush(), retryMs)
      this.#retry.unref()
      return false
    }
  }

  async #append(): Promise<void> {
    const path = await this.#chainPath()
    if (path === undefined) return this.#appendToStream()
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const prepared = this.#hasWork ? await this.#prepare(path) : undefined
      // Opened each time, because another program may rotate the file.
      await using handle = await open(path, openFlags, 0o600)
      if (!this.#hasWork) return
      const { dev, ino, size } = await handle.stat()
      this.#end = { dev, ino, size }
      if (prepared === undefined ? size > 0 : !isSameFile(prepared, this.#end)) {
        this.#forget()
        continue
      }
      await this.#writeChunks(handle)
      if (this.#position !== undefined) await writeHead(path, this.#position).catch(() => undefined)
      for (const file of this.#expired) await rm(file, { force: true }).catch(() => undefined)
      this.#expired = []
      return
    }
    throw new Error('another program keeps replacing the file')
  }

  get #hasWork(): boolean {
    return this.#chunks.length > 0 || this.#queue.length > 0
  }

  /** Current file of this process's chain; `undefined` for a pipe or a device. */
  async #chainPath(): Promise<string | undefined> {
    const found = await stat(this.#path).catch(() => undefined)
    if (found !== undefined && !found.isFile() && !found.isDirectory()) return undefined
    if (this.#lock !== undefined && !(await this.#lock.isHeld())) {
      await this.#lock.release()
      this.#lock = undefined
      this.#position = undefined
      this.#forget()
    }
    this.#lock ??= await lockChain(await resolvedPath(this.#path))
    return this.#lock.path
  }

  // Nothing can be read back or rotated.
  async #appendToStream(): Promise<void> {
    await using stream = await open(this.#path, openFlags, 0o600)
    this.#end = undefined
    if (!this.#hasWork) return
    if (this.#position === undefined && this.#chunks.length === 0) this.#pushControl({ type: 'file' }, emptyChain)
    await this.#writeChunks(stream)
  }

  /**
   * Finds the place to continue at, and rotates the file if it is large enough. Returns the file to continue, or `undefined` for a
   * new one.
   */
  async #prepare(path: string): Promise<FileEnd | undefined> {
    const found = await stat(path).catch(() => undefined)
    const { maxBytes = Number.POSITIVE_INFINITY } = this.#options
    if (found !== undefined && this.#end !== undefined && isSameFile(found, this.#end)) {
      if (found.size < maxBytes || this.#chunks.length > 0) return found
      if (!(await this.#setAside(path))) return found
      return this.#begin(path)
    }
    const isOwn = found !== undefined && found.ino === this.#end?.ino && found.dev === this.#end.dev
    this.#forget()
    if (found === undefined || found.size === 0) return this.#begin(path)
    const resumed = await resumeFile(path, { written: this.#position, isOwn })
    if (resumed === undefined) return this.#replaceUnchained(path, found)
    if (resumed.endsLine) this.#chunks.push({ bytes: lineFeed })
    this.#position = resumed.after
    if (resumed.findings !== undefined) this.#pushControl({ type: 'recovered', ...resumed.findings }, resumed.after)
    return found
  }

  /** Continues in a new file if the last line is not a record: an earlier version wrote it, or someone else. */
  async #replaceUnchained(path: string, found: FileEnd): Promise<FileEnd | undefined> {
    const tail = await readTail(path)
    if (!tail.hasLine) {
      // The process was killed while it wrote the first record.
      this.#chunks.push({ bytes: lineFeed })
      await this.#begin(path, partialFields(tail))
      return found
    }
    const aside = await nextRotatedPath(path)
    await rename(path, aside)
    return this.#begin(path, { unchained: basename(aside) })
  }

  /** Writes the first record of a file. */
  async #begin(path: string, more: object = {}): Promise<undefined> {
    const { after, fields, expired } = await startFile(path, { written: this.#position, keep: this.#options.keep })
    this.#expired = expired
    this.#position = after
    this.#pushControl({ type: 'file', ...fields, ...more }, after)
    return undefined
  }

  async #setAside(path: string): Promise<boolean> {
    try {
      await rename(path, await nextRotatedPath(path))
      this.#rotationProblem = undefined
      return true
    } catch (error) {
      // Better a long file than none.
      this.#rotationProblem = `cannot rotate ${path}: ${errorMessage(error)}. Check the folder and its permissions.`
      return false
    }
  }

  /** Queues what is not written, to be encoded again. */
  #forget(): void {
    this.#queue = [...this.#chunks.flatMap(({ entry }) => entry ?? []), ...this.#queue]
    this.#chunks = []
    this.#written = 0
    this.#end = undefined
  }

  async #writeChunks(handle: FileHandle): Promise<void> {
    for (this.#encode(); this.#chunks.length > 0; this.#encode()) {
      const bytes = Buffer.concat(this.#chunks.map((chunk) => chunk.bytes)).subarray(this.#written)
      const { bytesWritten } = await handle.write(bytes)
      if (this.#end !== undefined) this.#end.size += bytesWritten
      this.#written += bytesWritten
      for (let [first] = this.#chunks; first !== undefined && this.#written >= first.bytes.length; [first] = this.#chunks) {
        this.#written -= first.bytes.length
        this.#position = first.position ?? this.#position
        this.#chunks.shift()
      }
    }
  }

  /** Gives every queued record its place in the chain. */
  #encode(): void {
    const entries = this.#queue
    this.#queue = []
    if (entries.length > 0 && this.#missing > 0) {
      entries.push({ at: now(), type: 'missing', missing: this.#missing })
      this.#missing = 0
    }
    let position = this.#chunks.findLast((chunk) => chunk.position !== undefined)?.position ?? this.#position ?? emptyChain
    for (const entry of entries) {
      const encoded = encodeRecord(position, entry)
      this.#chunks.push({ bytes: encoded.line, position: encoded.position, entry })
      position = encoded.position
    }
  }

  /** Puts a record about the file itself before the queued ones. */
  #pushControl(fields: { readonly type: AuditType }, after: ChainPosition): void {
    const { line, position } = encodeRecord(after, { at: now(), ...fields })
    this.#chunks.push({ bytes: line, position })
  }
}

const now = (): string => new Date().toISOString()

const lineFeed = Buffer.from('\n')

const isSameFile = (one: FileEnd, other: FileEnd): boolean =>
  one.dev === other.dev && one.ino === other.ino && one.size === other.size

const nextRotatedPath = async (path: string): Promise<string> =>
  rotatedPath(path, ((await rotatedFiles(path)).at(-1)?.number ?? 0) + 1)
