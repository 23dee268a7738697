import { discovery, isRecord } from '@unfold-mcp/core'

export interface Message {
  readonly [key: string]: unknown
  readonly id?: unknown
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
}

/** Messages of a line; none if it is not JSON. */
export function messagesOn(line: Buffer): { readonly messages: readonly Message[]; readonly isBatch: boolean } {
  let value: unknown
  try {
    value = JSON.parse(line.toString('utf8'))
  } catch {
    // The recipient of the line reports the error.
  }
  const all: readonly unknown[] = Array.isArray(value) ? value : [value]
  return { messages: all.filter(isRecord), isBatch: Array.isArray(value) }
}

export const isRequest = ({ id, method }: Message): boolean => typeof method === 'string' && id !== undefined

export const isResponse = ({ id, method }: Message): boolean => method === undefined && id !== undefined

/** Distinguishes 1 and "1". */
export const keyOf = (id: unknown): string => JSON.stringify(id) ?? ''

export const lineOf = (message: object): Buffer => Buffer.from(`${JSON.stringify(message)}\n`)

// Idempotent requests.
const repeatable: ReadonlySet<string> = new Set([
  'completion/complete',
  'initialize',
  'logging/setLevel',
  'ping',
  'prompts/get',
  'prompts/list',
  'resources/list',
  'resources/read',
  'resources/subscribe',
  'resources/templates/list',
  'resources/unsubscribe',
  'server/discover',
  'subscriptions/listen',
  'tools/list',
  ...Object.values(discovery.methods),
])

/** Whether a request can be repeated when its outcome is unknown. */
export const isRepeatable = ({ method }: Message): boolean => method !== undefined && repeatable.has(method)

export const isListen = ({ method }: Message): boolean => method === 'subscriptions/listen'
