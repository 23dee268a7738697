import { setTimeout as wait } from 'node:timers/promises'
import type { GatewayStatus } from '@unfold-mcp/gateway'
import { exit, usageError } from '../../base/exit.ts'
import type { Io } from '../../base/io.ts'
import { adminRequest, requireGateway } from '../../gateway/running.ts'
import type { Invocation } from '../../grammar/grammar.ts'
import { Output } from '../../output/output.ts'
import { serverLine } from '../../status/summary.ts'
import { safeText } from '../../text/safe.ts'

const intervalMs = 200
const startTimeoutMs = 10_000

export async function run({ positionals, flags }: Invocation, io: Io): Promise<number> {
  const output = new Output(io, flags)
  const [name, ...others] = positionals
  if (name === undefined || others.length > 0) throw usageError('Which server? unfold restart <server>')
  const gateway = await requireGateway(flags, io, output)
  const { signal } = io
  const path = `upstreams/${encodeURIComponent(name)}`
  await adminRequest(gateway, `${path}/restart`, { method: 'POST', signal })
  const ask = async () => (await (await adminRequest(gateway, path, { signal })).json()) as GatewayStatus['upstreams'][number]
  let server = await ask()
  // Installation may take minutes, so it is not awaited.
  for (let ms = 0; server.state === 'starting' && ms < startTimeoutMs; ms += intervalMs) {
    await wait(intervalMs, undefined, { signal })
    server = await ask()
  }
  output.answer(`${safeText(name)} was restarted: ${serverLine(server, server.offered)}`, { restarted: name, server })
  return server.state === 'failed' ? exit.failed : exit.ok
}
