import { setTimeout as wait } from 'node:timers/promises'
import type { GatewayStatus } from '@unfold-mcp/gateway'
import { CommandError, exit } from '../exit.ts'
import { askGateway, oneGateway } from '../gateway/running.ts'
import { statusText } from '../gateway/status-text.ts'
import { type Invocation, isSet } from '../grammar.ts'
import type { Io } from '../io.ts'
import { Output } from '../output.ts'

const everyMs = 1_000

/** What the running gateway is doing. */
export async function run({ flags }: Invocation, io: Io): Promise<number> {
  const output = new Output(io, flags)
  const gateway = await oneGateway(flags, io)
  const { signal, stdout } = io
  const ask = async (): Promise<GatewayStatus> =>
    (await (await askGateway(gateway, 'status', { signal })).json()) as GatewayStatus
  if (!isSet(flags, 'watch')) {
    const status = await ask()
    output.answer(statusText(status, output), status)
    return exit.ok
  }
  const isScreen = stdout.isTTY === true && !output.isJson
  while (!signal.aborted) {
    try {
      const status = await ask()
      // The screen is filled anew from its top; what is left of what was longer is erased.
      const text = statusText(status, output)
      if (isScreen) stdout.write(`\u001b[H\u001b[2J${text}\n${output.style.dim('Stop with Ctrl-C.')}\n`)
      else output.item(`${text}\n`, status)
      await wait(everyMs, undefined, { signal })
    } catch (error) {
      if (signal.aborted) break
      if (!(error instanceof CommandError) || error.reason !== 'unreachable') throw error
      output.note('The gateway has ended.')
      return exit.ok
    }
  }
  return exit.interrupted
}
