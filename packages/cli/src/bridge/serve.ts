import { realpath } from 'node:fs/promises'
import type { Duplex } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { type RunRecord, runningGateways } from '@unfold-mcp/gateway/run-file'
import { usageError } from '../base/exit.ts'
import { dataFolder, type Io } from '../base/io.ts'
import { timeLimit } from '../base/time-limit.ts'
import { Bridge } from './bridge.ts'
import { BridgeRefused, type ClientView, openBridge } from './connection.ts'

// A restart of the gateway takes less than this.
const connectTimeoutMs = 5_000
const retryMs = 200

/** Serves the stdio client through a running gateway with this configuration; undefined if there is none. */
export async function serveThroughGateway(
  config: string,
  client: ClientView,
  io: Io,
  note: (text: string) => void,
): Promise<number | undefined> {
  const find = () => runningWith(config, io)
  const first = await firstGateway(find, client, io)
  if (first === undefined) return undefined
  note(`Using the gateway at ${first.record.url}.`)
  const open = async (signal: AbortSignal): Promise<Duplex> => {
    const record = await find()
    if (record === undefined) throw new Error('No gateway is running.')
    return openBridge(record, client, signal)
  }
  const { stdin, stdout, signal } = io
  return new Bridge({ stdin, stdout, signal, open, note }).run(first.gateway)
}

async function firstGateway(
  find: () => Promise<RunRecord | undefined>,
  client: ClientView,
  { signal }: Io,
): Promise<{ readonly record: RunRecord; readonly gateway: Duplex } | undefined> {
  using limit = timeLimit(connectTimeoutMs, [signal])
  while (!limit.signal.aborted) {
    const record = await find()
    if (record === undefined) return undefined
    try {
      return { record, gateway: await openBridge(record, client, limit.signal) }
    } catch (error) {
      if (error instanceof BridgeRefused && error.status === 400) throw usageError(error.message)
    }
    await pause(retryMs, undefined, { signal: limit.signal }).catch(() => undefined)
  }
  return undefined
}

async function runningWith(config: string, io: Io): Promise<RunRecord | undefined> {
  const real = await realpath(config).catch(() => config)
  for (const record of await runningGateways(dataFolder(io))) {
    if (record.transport !== 'http' || record.bridge === undefined) continue
    if (record.config === config || (await realpath(record.config).catch(() => record.config)) === real) return record
  }
  return undefined
}
