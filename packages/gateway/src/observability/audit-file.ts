import { constants, open } from 'node:fs/promises'
import { errorMessage } from '../base/error-message.ts'

export interface AuditFileOptions {
  /** Hears what is wrong with the file, and nothing once it is right again. */
  readonly told: (problem: string | undefined) => void
}

// A pipe that nobody reads would otherwise keep whoever opens it waiting for ever.
const appending = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK
const maxQueuedLines = 1_000
const retryMs = 2_000

/**
 * Lines in a file, in order and each of them whole. What cannot be written now is kept, up to a number, and written when it can
 * be; what is beyond that number is counted, and the count is written.
 */
export class AuditFile {
  readonly #path: string
  readonly #told: AuditFileOptions['told']
  #waiting: string[] = []
  /** What was begun and is not in the file to its end. */
  #rest: Uint8Array | undefined
  #missing = 0
  #isToBegin = false
  #turn: Promise<boolean> = Promise.resolve(true)
  #retry: NodeJS.Timeout | undefined

  constructor(path: string, { told }: AuditFileOptions) {
    this.#path = path
    this.#told = told
  }

  /** Done when the file is there to be written, or it was told why it is not. */
  async begin(): Promise<void> {
    this.#isToBegin = true
    await this.#flush()
  }

  /** Done when the line is in the file with all before it, or cannot be written now; then it is false. */
  write(record: object): Promise<boolean> {
    if (this.#waiting.length < maxQueuedLines) this.#waiting.push(lineOf(record))
    else this.#missing++
    return this.#flush()
  }

  async close(): Promise<void> {
    await this.#flush()
    clearTimeout(this.#retry)
  }

  #flush(): Promise<boolean> {
    this.#turn = this.#turn.then(() => this.#drain())
    return this.#turn
  }

  async #drain(): Promise<boolean> {
    clearTimeout(this.#retry)
    if (!this.#isToBegin && this.#rest === undefined && this.#waiting.length === 0) return true
    try {
      // Opened anew each time: the file may have been taken away for another to be begun.
      await using handle = await open(this.#path, appending, 0o600)
      for (let rest = this.#next(); rest !== undefined; rest = this.#next()) {
        const { bytesWritten } = await handle.write(rest)
        this.#rest = bytesWritten < rest.length ? rest.subarray(bytesWritten) : undefined
      }
      this.#isToBegin = false
      this.#told(undefined)
      return true
    } catch (error) {
      this.#told(
        `${this.#path} could not be written: ${errorMessage(error)}. Make its folder or room for it, or let this user write there.`,
      )
      this.#retry = setTimeout(() => void this.#flush(), retryMs)
      this.#retry.unref()
      return false
    }
  }

  /** What is to be written next. */
  #next(): Uint8Array | undefined {
    if (this.#rest !== undefined) return this.#rest
    if (this.#waiting.length === 0) return undefined
    const missing = this.#missing === 0 ? '' : lineOf({ missing: this.#missing })
    this.#rest = Buffer.from(`${this.#waiting.join('')}${missing}`)
    this.#waiting = []
    this.#missing = 0
    return this.#rest
  }
}

const lineOf = (record: object): string => `${JSON.stringify({ at: new Date().toISOString(), ...record })}\n`
