import { realpath } from 'node:fs/promises'
import type { RunRecord } from '@unfold-mcp/gateway/run-file'
import type { Io } from '../base/io.ts'
import { timeLimit } from '../base/time-limit.ts'
import type { Output } from '../output/output.ts'
import { adminRequest, findGateways } from './running.ts'

/** What a gateway did when it was asked to read its configuration. */
export interface Reloaded {
  readonly isUsed: boolean
  readonly problems: readonly {
    readonly file: string
    readonly line: number
    readonly column: number
    readonly path: string
    readonly message: string
  }[]
}

/** Makes one gateway read its configuration; resolves once that is in use or was refused. */
export async function reload(gateway: RunRecord, signal: AbortSignal): Promise<Reloaded> {
  const response = await adminRequest(gateway, 'reload', { method: 'POST', signal })
  return (await response.json()) as Reloaded
}

// Closing the sessions of a revoked token includes the calls that still run.
const reloadTimeoutMs = 15_000

/** Makes every running gateway of this file use it before the command ends. Returns their process numbers, and warns about the others. */
export async function reloadGateways(file: string, io: Io, output: Output): Promise<readonly number[]> {
  const target = await resolved(file)
  const running = await findGateways({}, io)
  const isMeant = await Promise.all(running.map(async ({ config }) => (await resolved(config)) === target))
  using limit = timeLimit(reloadTimeoutMs, [io.signal])
  const reloaded = await Promise.all(
    running
      .filter((_, at) => isMeant[at])
      .map(async (gateway) => {
        const isUsed = await reload(gateway, limit.signal).then(
          (answer) => answer.isUsed,
          () => false,
        )
        if (!isUsed)
          output.warn(`The running gateway (process ${gateway.pid}) did not confirm the change. Check it with: unfold reload`)
        return isUsed ? [gateway.pid] : []
      }),
  )
  return reloaded.flat()
}

// The gateway may have been started through a link.
const resolved = (file: string): Promise<string> => realpath(file).catch(() => file)
