import { isRecord } from '@unfold-mcp/core'
import { keyOf, type Message } from './message.ts'

const listChanged = ['tools', 'prompts', 'resources'] as const

/** What a session-era client has told the gateway, for another gateway to be told again. */
export class Session {
  #initialize: Message | undefined
  #result: Readonly<Record<string, unknown>> | undefined
  #initialized: Message | undefined
  #level: Message | undefined
  readonly #subscribed = new Map<string, Message>()

  /** Notes what the client sends. */
  sent(message: Message): void {
    const uri = keyOf(message.params?.uri)
    if (message.method === 'initialize') this.#initialize = message
    else if (message.method === 'notifications/initialized') this.#initialized = message
    else if (message.method === 'logging/setLevel') this.#level = message
    else if (message.method === 'resources/subscribe') this.#subscribed.set(uri, message)
    else if (message.method === 'resources/unsubscribe') this.#subscribed.delete(uri)
  }

  /** Notes what the gateway answers. */
  answered({ id, result }: Message): void {
    if (this.#initialize !== undefined && keyOf(id) === keyOf(this.#initialize.id) && isRecord(result)) this.#result ??= result
  }

  /** The request that begins the session anew; nothing where none has begun. */
  get initialize(): Message | undefined {
    return this.#result === undefined ? undefined : this.#initialize
  }

  /** Whether another gateway answered as the first one did, as far as the client depends on it. */
  isLike({ result }: Message): boolean {
    return isRecord(result) && result.protocolVersion === this.#result?.protocolVersion
  }

  /** What was said after that. The requests among it need ids of their own. */
  get rest(): readonly Message[] {
    return [this.#initialized, this.#level, ...this.#subscribed.values()].filter((message) => message !== undefined)
  }

  /** Notifications that everything may have changed, as far as the client was promised to hear of it. */
  get changes(): readonly Message[] {
    const capabilities = this.#result?.capabilities
    return listChanged
      .filter((kind) => {
        const capability = isRecord(capabilities) ? capabilities[kind] : undefined
        return isRecord(capability) && capability.listChanged === true
      })
      .map((kind) => ({ jsonrpc: '2.0', method: `notifications/${kind}/list_changed` }))
  }
}
