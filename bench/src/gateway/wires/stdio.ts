import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Command } from '../upstreams.ts'
import { changed, cutter, initializeParams, Pending, type Wire } from './wire.ts'

/** A client that starts the server itself. */
export async function stdioWire({ command, args }: Command): Promise<Wire> {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const pending = new Pending()
  const wire: Wire = {
    ask(method, params = {}) {
      const { id, answer } = pending.begin()
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
      return answer
    },
    noticed: () => undefined,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.stdin.end()
      await ended
    },
  }
  child.stdout.on(
    'data',
    cutter('\n', (line) => {
      if (!pending.settle(line) && line.includes(changed)) wire.noticed()
    }),
  )
  child.once('exit', () => pending.fail(new Error('The server exited.')))
  await wire.ask('initialize', initializeParams)
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`)
  return wire
}
