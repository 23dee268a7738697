import { createHash } from 'node:crypto'
import { mkdir, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { readRegularFile, replaceFile } from '@unfold-mcp/core/files'
import * as z from 'zod'
import type { SessionStorage, StoredSession } from './sessions.ts'

const format = 'unfold-pages'
const maxSessions = 1_000

const recordSchema = z.object({
  format: z.literal(format),
  version: z.literal(1),
  sessions: z
    .array(z.object({ digest: z.string().max(100), until: z.number(), tokenHash: z.string().max(200).optional() }))
    .max(maxSessions),
})

/** Sessions of one configuration file, in the user's data folder. Holds digests only, so it signs nobody in. */
export class PageSessionFile implements SessionStorage {
  readonly #path: string
  readonly #onProblem: (error: unknown) => void
  #written: Promise<unknown> = Promise.resolve()

  constructor(home: string, { config, onProblem }: { config: string; onProblem: (error: unknown) => void }) {
    const id = createHash('sha256').update(resolve(config)).digest('hex').slice(0, 16)
    this.#path = join(home, 'pages', `${id}.json`)
    this.#onProblem = onProblem
  }

  /** Returns nothing if the file is missing, damaged or writable by others. */
  async read(): Promise<readonly StoredSession[]> {
    try {
      if (process.platform !== 'win32') {
        const { mode, uid } = await stat(this.#path)
        if (uid !== process.getuid?.() || (mode & 0o022) !== 0) return []
      }
      const { sessions } = recordSchema.parse(JSON.parse((await readRegularFile(this.#path)).toString('utf8')))
      return sessions.map(({ tokenHash, ...session }) => ({ ...session, ...(tokenHash !== undefined && { tokenHash }) }))
    } catch {
      return []
    }
  }

  write(sessions: readonly StoredSession[]): void {
    const text = `${JSON.stringify({ format, version: 1, sessions })}\n`
    this.#written = this.#written
      .then(() => mkdir(dirname(this.#path), { recursive: true, mode: 0o700 }))
      .then(() => replaceFile(this.#path, text, { isDurable: false }))
      // The sessions of this process still work.
      .catch(this.#onProblem)
  }

  async settled(): Promise<void> {
    await this.#written
  }
}
