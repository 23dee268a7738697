// Silent until pinged; then answers the earlier request first, and the ping only after another message.
import { createInterface } from 'node:readline'

const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const supportedVersions = ['2026-07-28']
let asked

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line)
  if (method === 'server/discover') asked = id
  if (method !== 'ping') continue
  say({ id: asked, result: { supportedVersions, capabilities: {} } })
  setTimeout(() => {
    say({ id, error: { code: -32601, message: 'Method not found' } })
    say({ method: 'notifications/message', params: { level: 'info', data: 'after the answer' } })
  }, 100)
}
