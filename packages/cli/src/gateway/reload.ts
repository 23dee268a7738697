import { realpath } from 'node:fs/promises'
import type { RunRecord } from '@unfold-mcp/gateway/run-file'
import type { Io } from '../base/io.ts'
import { timeLimit } from '../base/time-limit.ts'
import type { Output } from '../output/output.ts'
import { adminRequest, findGateways } from './running.ts'

export interface Reloaded {
  readonly isApplied: boolean
  readonly problems: readonly {
    readonly file: string
    readonly line: number
    readonly column: number
    readonly path: string
    readonly message: string
  }[]
}

/** Resolves when the configuration is in use or was rejected. */
export async function reload(gateway: RunRecord, signal: AbortSignal): Promise<Reloaded> {
  const response = await adminRequest(gateway, 'reload', { method: 'POST', signal })
  return (await response.json()) as Reloaded
}

// Closing the sessions of a revoked token waits for running calls.
const reloadTimeoutMs = 15_000

/** Reloads all running gateways with this configuration. Returns their process IDs and warns about failures. */
export async function reloadGateways(file: string, io: Io, output: Output): Promise<readonly number[]> {
  const running = await gatewaysOf(file, io)
  using limit = timeLimit(reloadTimeoutMs, [io.signal])
  const reloaded = await Promise.all(
    running.map(async (gateway) => {
      const isApplied = await reload(gateway, limit.signal).then(
        (response) => response.isApplied,
        () => false,
      )
      if (!isApplied)
        output.warn(`The running gateway (pid ${gateway.pid}) did not confirm the change. Check with "unfold reload".`)
      return isApplied ? [gateway.pid] : []
    }),
  )
  return reloaded.flat()
}

/** Running gateways with this configuration. */
export async function gatewaysOf(file: string, io: Pick<Io, 'env' | 'home' | 'cwd'>): Promise<readonly RunRecord[]> {
  const target = await resolved(file)
  const running = await findGateways({}, io)
  const matches = await Promise.all(running.map(async ({ config }) => (await resolved(config)) === target))
  return running.filter((_, at) => matches[at])
}

// The gateway may have been started through a symbolic link.
const resolved = (file: string): Promise<string> => realpath(file).catch(() => file)
