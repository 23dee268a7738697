import { isClientError } from '@unfold-mcp/client'
import { jsonSize } from '../base/json-size.ts'

export interface ListRequest<T> {
  readonly method: string
  /** Key of the list in the result. */
  readonly member: string
  readonly parse: (items: unknown) => T | undefined
  /** Maximum number of items. */
  readonly limit: number
}

export type SendRequest = (method: string, params: Readonly<Record<string, unknown>>) => Promise<unknown>

const maxPages = 200
// Lists are stored, compared and sent as a whole.
const maxCharacters = 8_388_608
const notFound = -32_601

/** Reads all pages of a list, ignoring invalid items. Empty if the server does not support the method. */
export async function listAll<T>(send: SendRequest, { method, member, parse, limit }: ListRequest<T>): Promise<readonly T[]> {
  const all: T[] = []
  const seen = new Set<string>()
  let cursor: string | undefined
  let room = maxCharacters
  for (let pages = 0; pages < maxPages && all.length < limit && room > 0; pages++) {
    const page = await requestPage(send, method, cursor)
    const items = page?.[member]
    if (!Array.isArray(items)) break
    for (const each of items.slice(0, limit - all.length)) {
      const item = parse(each)
      if (item === undefined) continue
      room -= jsonSize(item)
      if (room < 0) break
      all.push(item)
    }
    const { nextCursor } = page ?? {}
    // A repeated cursor would loop forever.
    if (typeof nextCursor !== 'string' || seen.has(nextCursor)) break
    seen.add(nextCursor)
    cursor = nextCursor
  }
  return all
}

async function requestPage(
  send: SendRequest,
  method: string,
  cursor: string | undefined,
): Promise<Record<string, unknown> | undefined> {
  try {
    const page = await send(method, cursor === undefined ? {} : { cursor })
    return typeof page === 'object' && page !== null ? (page as Record<string, unknown>) : undefined
  } catch (error) {
    if (isClientError(error, 'protocol') && error.details.code === notFound) return undefined
    throw error
  }
}
