import { isRecord } from '@unfold-mcp/core'
import { keyOf, type Message } from './message.ts'

const listChanged = ['tools', 'prompts', 'resources'] as const

/** Session state of a client, to replay to another gateway. */
export class Session {
  #initialize: Message | undefined
  #result: Readonly<Record<string, unknown>> | undefined
  #initialized: Message | undefined
  #level: Message | undefined
  readonly #subscribed = new Map<string, Message>()

  recordSent(message: Message): void {
    const uri = keyOf(message.params?.uri)
    if (message.method === 'initialize') this.#initialize = message
    else if (message.method === 'notifications/initialized') this.#initialized = message
    else if (message.method === 'logging/setLevel') this.#level = message
    else if (message.method === 'resources/subscribe') this.#subscribed.set(uri, message)
    else if (message.method === 'resources/unsubscribe') this.#subscribed.delete(uri)
  }

  recordResponse({ id, result }: Message): void {
    if (this.#initialize !== undefined && keyOf(id) === keyOf(this.#initialize.id) && isRecord(result)) this.#result ??= result
  }

  /** The `initialize` request to replay; undefined before a session was established. */
  get initialize(): Message | undefined {
    return this.#result === undefined ? undefined : this.#initialize
  }

  isCompatible({ result }: Message): boolean {
    return isRecord(result) && result.protocolVersion === this.#result?.protocolVersion
  }

  /** Messages to replay after `initialize`; requests need new IDs. */
  get followUps(): readonly Message[] {
    return [this.#initialized, this.#level, ...this.#subscribed.values()].filter((message) => message !== undefined)
  }

  /** `list_changed` notifications that the client expects. */
  get changeNotifications(): readonly Message[] {
    const capabilities = this.#result?.capabilities
    return listChanged
      .filter((kind) => {
        const capability = isRecord(capabilities) ? capabilities[kind] : undefined
        return isRecord(capability) && capability.listChanged === true
      })
      .map((kind) => ({ jsonrpc: '2.0', method: `notifications/${kind}/list_changed` }))
  }
}
