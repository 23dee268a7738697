import { constants, open } from 'node:fs/promises'
import { errorMessage } from '../base/error-message.ts'

export interface AuditFileOptions {
  /** Called with the problem when a write fails, and with `undefined` when it succeeds. */
  readonly onStatus: (problem: string | undefined) => void
}

// O_NONBLOCK: opening a pipe without a reader would block forever.
const openFlags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK
const maxQueuedLines = 1_000
const retryMs = 2_000

/**
 * Appends complete lines to a file, in order. Lines that cannot be written are queued up to a limit and retried; lines beyond the
 * limit are counted, and the count is written.
 */
export class AuditFile {
  readonly #path: string
  readonly #onStatus: AuditFileOptions['onStatus']
  #queue: string[] = []
  /** Bytes that a partial write left over. */
  #rest: Uint8Array | undefined
  #missing = 0
  #isOpening = false
  #flushing: Promise<boolean> = Promise.resolve(true)
  #retry: NodeJS.Timeout | undefined

  constructor(path: string, { onStatus }: AuditFileOptions) {
    this.#path = path
    this.#onStatus = onStatus
  }

  /** Creates the file, or reports why that failed. */
  async open(): Promise<void> {
    this.#isOpening = true
    await this.#flush()
  }

  /** Resolves to true when the line and all before it are written, to false if writing fails. */
  write(record: object): Promise<boolean> {
    if (this.#queue.length < maxQueuedLines) this.#queue.push(lineOf(record))
    else this.#missing++
    return this.#flush()
  }

  async close(): Promise<void> {
    await this.#flush()
    clearTimeout(this.#retry)
  }

  #flush(): Promise<boolean> {
    this.#flushing = this.#flushing.then(() => this.#drain())
    return this.#flushing
  }

  async #drain(): Promise<boolean> {
    clearTimeout(this.#retry)
    if (!this.#isOpening && this.#rest === undefined && this.#queue.length === 0) return true
    try {
      // Opened each time, to support log rotation.
      await using handle = await open(this.#path, openFlags, 0o600)
      for (let rest = this.#next(); rest !== undefined; rest = this.#next()) {
        const { bytesWritten } = await handle.write(rest)
        this.#rest = bytesWritten < rest.length ? rest.subarray(bytesWritten) : undefined
      }
      this.#isOpening = false
      this.#onStatus(undefined)
      return true
    } catch (error) {
      this.#onStatus(
        `cannot write ${this.#path}: ${errorMessage(error)}. Check the folder, the permissions and the free disk space.`,
      )
      this.#retry = setTimeout(() => void this.#flush(), retryMs)
      this.#retry.unref()
      return false
    }
  }

  #next(): Uint8Array | undefined {
    if (this.#rest !== undefined) return this.#rest
    if (this.#queue.length === 0) return undefined
    const missing = this.#missing === 0 ? '' : lineOf({ missing: this.#missing })
    this.#rest = Buffer.from(`${this.#queue.join('')}${missing}`)
    this.#queue = []
    this.#missing = 0
    return this.#rest
  }
}

const lineOf = (record: object): string => `${JSON.stringify({ at: new Date().toISOString(), ...record })}\n`
