import type { ClientCapabilities, ElicitRequest, LoggingLevel } from '@modelcontextprotocol/server'

/** Requests that a server may send to a client of the session era. */
export type ClientMethod = 'elicitation/create' | 'sampling/createMessage' | 'roots/list'

/** A question for the person at the client. */
export type ElicitParams = ElicitRequest['params']

export interface AskOptions {
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number | undefined
}

/** The client of one request, which can be sent messages while the request is handled. */
export interface ClientPort {
  /** Name in the client's `clientInfo`, which anyone can choose. */
  readonly name?: string | undefined
  /** Capabilities that the client declared. */
  readonly capabilities: ClientCapabilities | undefined
  /** Sends a notification that belongs to the request. */
  notify(method: string, params?: object): Promise<void>
  /** Sends a request to the client and resolves with its result. Rejects on 2026-07-28, which has no such requests. */
  ask(method: ClientMethod, params: object, options?: AskOptions): Promise<unknown>
  /** Closes the connection if the client can reconnect and resume: in a session with an event store. */
  readonly disconnect?: (() => void) | undefined
  /** Sends a log message if the client wants messages of this level. */
  log(level: LoggingLevel, data: unknown, logger?: string): Promise<void>
}

const severities: readonly LoggingLevel[] = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']

export const isLoggingLevel = (value: unknown): value is LoggingLevel => severities.includes(value as LoggingLevel)

/** Sends a log message unless it is less severe than the threshold. */
export async function sendLog(
  notify: ClientPort['notify'],
  threshold: LoggingLevel,
  ...[level, data, logger]: Parameters<ClientPort['log']>
): Promise<void> {
  if (severities.indexOf(level) < severities.indexOf(threshold)) return
  await notify('notifications/message', { level, data, ...(logger !== undefined && { logger }) })
}
