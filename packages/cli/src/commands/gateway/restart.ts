import { setTimeout as wait } from 'node:timers/promises'
import type { GatewayStatus } from '@unfold-mcp/gateway'
import { exit } from '../../base/exit.ts'
import type { Io } from '../../base/io.ts'
import { adminRequest, requireGateway, requireServer } from '../../gateway/running.ts'
import type { Invocation } from '../../grammar/grammar.ts'
import { onePositional } from '../../grammar/grammar.ts'
import { Output } from '../../output/output.ts'
import { serverLine } from '../../status/summary.ts'
import { safeText } from '../../text/safe.ts'

const intervalMs = 200
const startTimeoutMs = 10_000

export async function run(invocation: Invocation, io: Io): Promise<number> {
  const { flags } = invocation
  const output = new Output(io, flags)
  const name = onePositional(invocation)
  const gateway = await requireGateway(flags, io, output)
  const { signal } = io
  await requireServer(name, gateway, signal)
  const path = `upstreams/${encodeURIComponent(name)}`
  await adminRequest(gateway, `${path}/restart`, { method: 'POST', signal })
  const fetchStatus = async () =>
    (await (await adminRequest(gateway, path, { signal })).json()) as GatewayStatus['upstreams'][number]
  let server = await fetchStatus()
  // Installation may take minutes, so it is not awaited.
  for (let ms = 0; server.state === 'starting' && ms < startTimeoutMs; ms += intervalMs) {
    await wait(intervalMs, undefined, { signal })
    server = await fetchStatus()
  }
  output.result(`Restarted ${safeText(name)}: ${serverLine(server, server.offered)}`, { restarted: name, server })
  return server.state === 'failed' ? exit.failed : exit.ok
}
