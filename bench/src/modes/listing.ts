import { Baselines, browserToolbox, Recording, Redactor } from '@unfold-mcp/browser'
import { createHandler } from '@unfold-mcp/server'
import { testContext } from '@unfold-mcp/server/testing'
import { fillAll } from './records.ts'

/** Cost of a list while every buffer is full and receives more events. */
export interface Listing {
  readonly lists: number
  readonly p50Us: number
  readonly p99Us: number
  /** Heap growth per list. */
  readonly keptBytes: number
  /** Size of the response. */
  readonly answerBytes: number
}

/** Measures lists in process, each after one more log entry, so that the counts change. */
export async function inProcess(lists: number): Promise<Listing> {
  const recording = filled()
  await using client = await testContext(boxOf(recording))
  // All tools are listed after the first observation.
  await client.call('observe', { what: 'logs' })
  return measured(lists, recording, () => JSON.stringify(client.list()).length)
}

/** Measures lists as HTTP requests, without a socket. */
export async function asRequests(lists: number): Promise<Listing> {
  const recording = filled()
  const handler = createHandler(boxOf(recording))
  const one = async (): Promise<number> => (await (await handler.fetch(listRequest())).arrayBuffer()).byteLength
  await one()
  const times: number[] = []
  let bytes = 0
  for (let i = 0; i < lists; i++) {
    step(recording, i)
    const start = process.hrtime.bigint()
    bytes = await one()
    times.push(Number(process.hrtime.bigint() - start) / 1_000)
  }
  const kept = await keptAfter(lists, async () => {
    await one()
  })
  await handler.close()
  return summary(times, kept, bytes)
}

async function measured(lists: number, recording: Recording, one: () => number): Promise<Listing> {
  for (let i = 0; i < Math.min(lists, 2_000); i++) one()
  const times: number[] = []
  let bytes = 0
  for (let i = 0; i < lists; i++) {
    step(recording, i)
    const start = process.hrtime.bigint()
    bytes = one()
    times.push(Number(process.hrtime.bigint() - start) / 1_000)
  }
  const kept = await keptAfter(lists, async () => {
    one()
  })
  return summary(times, kept, bytes)
}

async function keptAfter(lists: number, one: () => Promise<void>): Promise<number> {
  global.gc?.()
  const before = process.memoryUsage().heapUsed
  for (let i = 0; i < lists; i++) await one()
  global.gc?.()
  return Math.max(0, (process.memoryUsage().heapUsed - before) / lists)
}

function summary(times: number[], keptBytes: number, answerBytes: number): Listing {
  times.sort((a, b) => a - b)
  const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0
  return { lists: times.length, p50Us: at(0.5), p99Us: at(0.99), keptBytes, answerBytes }
}

function step(recording: Recording, i: number): void {
  recording.add('logs', {
    at: i,
    tab: 'tab-1',
    level: i % 7 === 0 ? 'error' : 'log',
    from: 'console',
    text: `line ${i}`,
    url: 'http://127.0.0.1/',
  })
}

function filled(): Recording {
  const recording = new Recording({ redactor: new Redactor() })
  fillAll(recording)
  return recording
}

function boxOf(recording: Recording) {
  const unused = (): never => {
    throw new Error('No browser in this benchmark.')
  }
  return browserToolbox({
    recording,
    browser: { tabs: () => [], tab: unused, snapshot: async () => unused() },
    baselines: new Baselines(),
    sessions: '',
    output: '',
  })
}

function listRequest(): Request {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  return new Request('http://127.0.0.1/mcp', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/list',
      host: '127.0.0.1',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta } }),
  })
}
