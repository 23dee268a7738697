import { isRecord } from '@unfold-mcp/core'
import { keyOf, type Message } from './message.ts'

const subscriptionKey = 'io.modelcontextprotocol/subscriptionId'

const kinds = {
  toolsListChanged: 'notifications/tools/list_changed',
  promptsListChanged: 'notifications/prompts/list_changed',
  resourcesListChanged: 'notifications/resources/list_changed',
} as const

/** Acknowledged subscriptions of a 2026-07-28 client. */
export class Subscriptions {
  readonly #acknowledged = new Set<string>()

  /**
   * Messages for the client: the notification itself, or, if another gateway acknowledges an existing subscription, change
   * notifications for everything subscribed.
   */
  received(message: Message): readonly Message[] {
    if (message.method !== 'notifications/subscriptions/acknowledged') return [message]
    const meta = message.params?._meta
    const id = isRecord(meta) ? meta[subscriptionKey] : undefined
    if (!this.#acknowledged.has(keyOf(id))) {
      this.#acknowledged.add(keyOf(id))
      return [message]
    }
    const honoured = message.params?.notifications
    if (!isRecord(honoured)) return []
    const stamp = { _meta: { [subscriptionKey]: id } }
    const lists = Object.entries(kinds).flatMap(([kind, method]) => (honoured[kind] === true ? [{ method, params: stamp }] : []))
    const uris: readonly unknown[] = Array.isArray(honoured.resourceSubscriptions) ? honoured.resourceSubscriptions : []
    const updates = uris.map((uri) => ({ method: 'notifications/resources/updated', params: { uri, ...stamp } }))
    return [...lists, ...updates].map((each) => ({ jsonrpc: '2.0', ...each }))
  }

  ended(id: unknown): void {
    this.#acknowledged.delete(keyOf(id))
  }
}
