import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, test, vi } from 'vitest'
import { defineToolbox } from '../toolbox.ts'
import { createHandler } from '../transports/handler.ts'

test('only streams that subscribed to prompts are notified of their changes', async () => {
  const toolbox = defineToolbox({ name: 'prompting', version: '1.0.0' }).extend((mcp) => {
    mcp.registerPrompt('hello', { description: 'Says hello' }, () => ({ messages: [] }))
  })
  await using handler = createHandler(toolbox)
  const connect = async (): Promise<{ client: Client; onPromptsChanged: () => void }> => {
    const client = new Client({ name: 'client', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
    const onPromptsChanged = vi.fn<() => void>()
    client.setNotificationHandler('notifications/prompts/list_changed', onPromptsChanged)
    const url = new URL('http://127.0.0.1/mcp')
    await client.connect(new StreamableHTTPClientTransport(url, { fetch: (at, init) => handler.fetch(new Request(at, init)) }))
    return { client, onPromptsChanged }
  }
  const [subscribed, other] = await Promise.all([connect(), connect()])
  await subscribed.client.listen({ promptsListChanged: true })
  await other.client.listen({ toolsListChanged: true })

  handler.notify.promptsChanged()
  await vi.waitFor(() => expect(subscribed.onPromptsChanged).toHaveBeenCalledOnce(), { timeout: 120_000 })
  expect(other.onPromptsChanged).not.toHaveBeenCalled()
  await Promise.all([subscribed.client.close(), other.client.close()])
})
