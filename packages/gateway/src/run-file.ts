import { chmod, mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { openRegularFile, replaceFile } from '@unfold-mcp/core/files'
import * as z from 'zod'
import { isProcessRunning } from './base/process-running.ts'

const recordSchema = z.object({
  pid: z.int().min(1),
  url: z.url({ protocol: /^http$/u }),
  admin: z.string().min(1).max(200),
  /** Token for stdio clients of the same user; absent where clients are not served over HTTP. */
  bridge: z.string().min(1).max(200).optional(),
  config: z.string().max(10_000),
  transport: z.enum(['http', 'stdio']),
  startedAt: z.iso.datetime(),
})

/** Run file of a gateway, for the commands of the same user: its URL and its admin token. */
export type RunRecord = z.output<typeof recordSchema>

/** Writes the run file, readable only by the user. Returns a function that removes it. */
export async function writeRunFile(home: string, record: RunRecord): Promise<() => Promise<void>> {
  const folder = folderOf(home)
  const file = join(folder, `${record.pid}.json`)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  // An existing folder may be readable by others.
  await chmod(folder, 0o700)
  await replaceFile(file, `${JSON.stringify(record)}\n`, { isDurable: false })
  return async () => {
    const current = await readRecord(file)
    if (current?.admin === record.admin) await rm(file, { force: true })
  }
}

/** Lists the running gateways of this user, oldest first. Removes stale run files. */
export async function runningGateways(home: string): Promise<readonly RunRecord[]> {
  const folder = folderOf(home)
  const names = await readdir(folder).catch(() => [])
  const records = await Promise.all(
    names
      .filter((name) => /^\d+\.json$/u.test(name))
      .map(async (name) => {
        const file = join(folder, name)
        const record = await readRecord(file)
        if (record !== undefined && name === `${record.pid}.json` && isProcessRunning(record.pid)) return [record]
        if (!isProcessRunning(Number.parseInt(name, 10))) await rm(file, { force: true }).catch(() => undefined)
        return []
      }),
  )
  return records.flat().toSorted((a, b) => a.startedAt.localeCompare(b.startedAt))
}

const folderOf = (home: string): string => join(home, 'run')

const maxBytes = 65_536

async function readRecord(file: string): Promise<RunRecord | undefined> {
  try {
    await using handle = await openRegularFile(file, { isLinkRejected: true })
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(maxBytes), 0, maxBytes, 0)
    return recordSchema.parse(JSON.parse(buffer.toString('utf8', 0, bytesRead)))
  } catch {
    return undefined
  }
}
