import { createHash } from 'node:crypto'
import { mkdir, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { withLock } from '@unfold-mcp/client/lock'
import { readRegularFile, replaceFile } from '@unfold-mcp/core/files'
import * as z from 'zod'
import { type Config, configSchema } from '../config/schema.ts'

/** What the user approved of one configuration file. */
export interface ConsentRecord {
  /** As written, without the values of variables and secrets. */
  readonly approved: Config
  /** Digests of rejected edits, so that nobody is asked again. */
  readonly rejected: readonly string[]
}

const format = 'unfold-consent'

const recordSchema = z.object({
  format: z.literal(format),
  version: z.literal(1),
  approved: configSchema,
  rejected: z.array(z.string()),
})

/** Nothing is approved. */
export const nothingApproved = (): ConsentRecord => ({ approved: configSchema.parse({}), rejected: [] })

// Reading and writing a small file takes milliseconds.
const locking = { staleMs: 10_000, timeoutMs: 30_000 }

/** Stored record of one configuration file, in the user's data folder, where only the user can write. */
export class ConsentFile {
  readonly path: string
  readonly #config: string

  constructor(home: string, config: string) {
    this.#config = resolve(config)
    const id = createHash('sha256').update(this.#config).digest('hex').slice(0, 16)
    this.path = join(home, 'consent', `${id}.json`)
  }

  /** Returns `missing` before the first start, and `unusable` if the file is damaged or not only writable by its owner. */
  async read(): Promise<ConsentRecord | 'missing' | 'unusable'> {
    try {
      if (process.platform !== 'win32') {
        const { mode, uid } = await stat(this.path)
        if (uid !== process.getuid?.() || (mode & 0o022) !== 0) return 'unusable'
      }
      const { approved, rejected } = recordSchema.parse(JSON.parse((await readRegularFile(this.path)).toString('utf8')))
      return { approved, rejected }
    } catch (error) {
      return error instanceof Error && 'code' in error && error.code === 'ENOENT' ? 'missing' : 'unusable'
    }
  }

  /** Replaces the record while no other process changes it. Writes nothing if `change` returns `undefined`. */
  async update(change: (stored: ConsentRecord | 'missing' | 'unusable') => ConsentRecord | undefined): Promise<void> {
    const folder = dirname(this.path)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await withLock(`${this.path}.lock`, locking, async () => {
      const next = change(await this.read())
      if (next === undefined) return
      await replaceFile(this.path, `${JSON.stringify({ format, version: 1, file: this.#config, ...next })}\n`)
    })
  }
}
