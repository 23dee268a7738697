import { discovery, isRecord } from '@unfold-mcp/core'

/** A JSON-RPC message, as far as a bridge looks at it. */
export interface Message {
  readonly [key: string]: unknown
  readonly id?: unknown
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
}

/** The messages on a line, and whether they came as a batch; none on a line that holds something else. */
export function messagesOn(line: Buffer): { readonly messages: readonly Message[]; readonly isBatch: boolean } {
  let value: unknown
  try {
    value = JSON.parse(line.toString('utf8'))
  } catch {
    // Whoever reads the line says so to whoever wrote it.
  }
  const all: readonly unknown[] = Array.isArray(value) ? value : [value]
  return { messages: all.filter(isRecord), isBatch: Array.isArray(value) }
}

export const isRequest = ({ id, method }: Message): boolean => typeof method === 'string' && id !== undefined

export const isResponse = ({ id, method }: Message): boolean => method === undefined && id !== undefined

/** An id as the key of a map: 1 and "1" are two. */
export const keyOf = (id: unknown): string => JSON.stringify(id) ?? ''

export const lineOf = (message: object): Buffer => Buffer.from(`${JSON.stringify(message)}\n`)

// What these ask for is the same when it is asked for twice.
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

/** Whether a request may be sent again when nobody knows what became of it. */
export const isRepeatable = ({ method }: Message): boolean => method !== undefined && repeatable.has(method)

export const isListen = ({ method }: Message): boolean => method === 'subscriptions/listen'
