import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, test, vi } from 'vitest'
import { defineToolbox } from '../toolbox.ts'
import { createHandler } from '../transports/handler.ts'

test('a change of prompts reaches the streams that asked to know of prompts, and no other', async () => {
  const toolbox = defineToolbox({ name: 'prompting', version: '1.0.0' }).extend((mcp) => {
    mcp.registerPrompt('hello', { description: 'Says hello' }, () => ({ messages: [] }))
  })
  await using handler = createHandler(toolbox)
  const connect = async (): Promise<{ client: Client; told: () => void }> => {
    const client = new Client({ name: 'client', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
    const told = vi.fn<() => void>()
    client.setNotificationHandler('notifications/prompts/list_changed', told)
    const url = new URL('http://127.0.0.1/mcp')
    await client.connect(new StreamableHTTPClientTransport(url, { fetch: (at, init) => handler.fetch(new Request(at, init)) }))
    return { client, told }
  }
  const [curious, other] = await Promise.all([connect(), connect()])
  await curious.client.listen({ promptsListChanged: true })
  await other.client.listen({ toolsListChanged: true })

  handler.notify.promptsChanged()
  await vi.waitFor(() => expect(curious.told).toHaveBeenCalledOnce())
  expect(other.told).not.toHaveBeenCalled()
  await Promise.all([curious.client.close(), other.client.close()])
})
