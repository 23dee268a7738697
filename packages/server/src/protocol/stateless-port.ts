import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  LOG_LEVEL_META_KEY,
  type LoggingLevel,
  SdkError,
  SdkErrorCode,
} from '@modelcontextprotocol/server'
import { isRecord } from '@unfold-mcp/core'
import type { Params } from '../operations/operation.ts'
import { type ClientPort, isLoggingLevel, sendLog } from '../tool/client-port.ts'

/** Client of a 2026-07-28 request, which declares its capabilities with the request. */
export class StatelessPort implements ClientPort {
  readonly name: string | undefined
  readonly capabilities: ClientCapabilities | undefined
  readonly notify: ClientPort['notify']
  readonly #logLevel: LoggingLevel | undefined

  constructor({ _meta }: Params, notify: ClientPort['notify']) {
    const envelope = (_meta ?? {}) as Params
    const level = envelope[LOG_LEVEL_META_KEY]
    const info = envelope[CLIENT_INFO_META_KEY]
    this.name = isRecord(info) && typeof info.name === 'string' ? info.name : undefined
    this.capabilities = envelope[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined
    this.#logLevel = isLoggingLevel(level) ? level : undefined
    this.notify = notify
  }

  async ask(method: string): Promise<never> {
    const message = `A server cannot send ${method} on protocol revision 2026-07-28. Return inputRequired({ … }) from the handler.`
    throw new SdkError(SdkErrorCode.MethodNotSupportedByProtocolVersion, message)
  }

  async log(...message: Parameters<ClientPort['log']>): Promise<void> {
    if (this.#logLevel !== undefined) await sendLog(this.notify, this.#logLevel, ...message)
  }
}
