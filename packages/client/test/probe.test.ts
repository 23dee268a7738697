import { Client, type JSONRPCMessage } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { probe } from '../src/session/probe.ts'
import { systemClock } from '../src/time/clock.ts'
import { StdioTransport } from '../src/transports/stdio.ts'
import { server } from './processes.ts'

test('a 2026-07-28 server that starts slowly is pinged and still used in its own era', async () => {
  const lines: string[] = []
  const transport = new StdioTransport(server('slow.mjs', '1000'), {
    maxMessageBytes: 2 ** 20,
    onWarning: () => undefined,
    onStderr: (line) => void lines.push(line),
  })
  const clientInfo = { name: 'test', version: '1.0.0' }
  const prior = await probe(transport, { clientInfo, capabilities: {}, clock: systemClock, quietMs: 20 })
  expect(prior.kind).toBe('modern')
  const client = new Client(clientInfo, { versionNegotiation: { mode: 'legacy' } })
  const errors: string[] = []
  client.onerror = (error) => void errors.push(error.message)
  await client.connect(transport, { prior })
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toContain('add')
  expect(lines).toContain('wire: ping')
  expect(errors).toEqual([])
  await client.close()
})

test('a late response to the ping is dropped', async () => {
  const transport = new StdioTransport(server('reversed.mjs'), { maxMessageBytes: 2 ** 20, onWarning: () => undefined })
  const clientInfo = { name: 'test', version: '1.0.0' }
  const prior = await probe(transport, { clientInfo, capabilities: {}, clock: systemClock, quietMs: 20 })
  expect(prior.kind).toBe('modern')
  const received: JSONRPCMessage[] = []
  await new Promise<void>((resolve) => {
    transport.onmessage = (message) => {
      received.push(message)
      if ('method' in message) resolve()
    }
  })
  expect(received).toMatchObject([{ method: 'notifications/message' }])
  await transport.close()
})
