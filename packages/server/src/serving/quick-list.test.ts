import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { defineToolbox } from '../toolbox.ts'
import { createHandler } from './handler.ts'

const box = () =>
  defineToolbox({ name: 'hub', version: '1.0.0', title: 'Hub', groups: { files: { about: 'Files' } } })
    .tool('read_file', { group: 'files', about: 'Read "a" file\n', input: z.object({ path: z.string() }) }, () => '')
    .tool('measure', { about: 'Größe – ü', output: z.object({ size: z.number() }) }, () => ({ size: 1 }))

const common = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', host: 'localhost' }

const stateless = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
}

async function post(handler: { fetch(request: Request): Promise<Response> }, body: object, headers: Record<string, string> = {}) {
  const request = new Request('http://localhost/mcp', {
    method: 'POST',
    headers: { ...common, ...headers },
    body: JSON.stringify(body),
  })
  return handler.fetch(request)
}

// A parameter the SDK ignores takes a request off the quick path.
const slow = { unknownToAll: true }

describe('a plain list is answered with the bytes the SDK would send', () => {
  test('on 2026-07-28', async () => {
    await using handler = createHandler(box())
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' }
    for (const id of [1, 'seven "7"']) {
      const request = { jsonrpc: '2.0', id, method: 'tools/list' }
      const quick = await post(handler, { ...request, params: { _meta: stateless } }, headers)
      const ours = await post(handler, { ...request, params: { _meta: stateless, ...slow } }, headers)
      expect(await quick.text()).toBe(await ours.text())
      expect(quick.headers.get('content-type')).toBe(ours.headers.get('content-type'))
    }
  })

  test('in a session', async () => {
    await using handler = createHandler(box())
    const initialize = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
    const opened = await post(handler, { jsonrpc: '2.0', id: 0, method: 'initialize', params: initialize })
    const headers = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': '2025-11-25' }
    await post(handler, { jsonrpc: '2.0', method: 'notifications/initialized' }, headers)
    const request = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    const quick = await post(handler, { ...request, params: {} }, headers)
    const ours = await post(handler, { ...request, params: slow }, headers)
    expect(`event: message\ndata: ${await quick.text()}\n\n`).toBe(await ours.text())
    expect(quick.headers.get('mcp-session-id')).toBe(ours.headers.get('mcp-session-id'))
  })
})
