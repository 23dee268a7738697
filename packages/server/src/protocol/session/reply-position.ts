import type { RequestId } from '@modelcontextprotocol/server'

/** A place in the stream of a reply. */
export interface ReplyPosition {
  readonly stream: string
  /** Replica that runs the requests. */
  readonly replica: string
  /** Requests whose responses belong to the stream. */
  readonly ids: readonly RequestId[]
  /** Number of the last event that the client has got; 0 for the first. */
  readonly index: number
}

/** Names the stream of a reply. The name has what another replica must know to continue it, so that nothing is stored before. */
export const replyStream = (replica: string, ids: readonly RequestId[]): string =>
  `${replica}.${crypto.randomUUID()}.${encodeURIComponent(JSON.stringify(ids)).replaceAll('.', '%2E')}`

export const eventId = (stream: string, index: number): string => `${stream}.${index}`

const maxLength = 8_192

/** Reads the id of an event; returns `undefined` if it is not from the stream of a reply. */
export function parseEventId(text: string): ReplyPosition | undefined {
  if (text.length > maxLength) return undefined
  const [, stream, replica, encoded, index] = /^(([^.]+)\.[0-9a-f-]{36}\.([^.]+))\.(\d{1,9})$/u.exec(text) ?? []
  const ids = encoded === undefined ? undefined : parseIds(encoded)
  if (stream === undefined || replica === undefined || ids === undefined) return undefined
  return { stream, replica, ids, index: Number(index) }
}

function parseIds(encoded: string): readonly RequestId[] | undefined {
  try {
    const ids: unknown = JSON.parse(decodeURIComponent(encoded))
    return Array.isArray(ids) && ids.every((id) => typeof id === 'string' || typeof id === 'number') ? ids : undefined
  } catch {
    return undefined
  }
}
