import { isClientError } from '@unfold-mcp/client'
import { sizeOf } from '../base/json-size.ts'

export interface Listed<T> {
  readonly method: string
  /** Under which key the answer has the list. */
  readonly member: string
  readonly take: (given: unknown) => T | undefined
  /** How many are taken at most. */
  readonly limit: number
}

export type Ask = (method: string, params: Readonly<Record<string, unknown>>) => Promise<unknown>

const maxPages = 200
// Each is kept, compared and sent as a whole; all that servers have is less by far.
const maxCharacters = 8_388_608
const notFound = -32_601

/** All pages of a list, as far as they make sense. A server that does not know the list has none. */
export async function listed<T>(ask: Ask, { method, member, take, limit }: Listed<T>): Promise<readonly T[]> {
  const all: T[] = []
  const seen = new Set<string>()
  let cursor: string | undefined
  let room = maxCharacters
  for (let page = 0; page < maxPages && all.length < limit && room > 0; page++) {
    const answer = await answered(ask, method, cursor)
    const given = answer?.[member]
    if (!Array.isArray(given)) break
    for (const each of given.slice(0, limit - all.length)) {
      const taken = take(each)
      if (taken === undefined) continue
      room -= sizeOf(taken)
      if (room < 0) break
      all.push(taken)
    }
    const { nextCursor } = answer ?? {}
    // One that leads in a circle leads nowhere.
    if (typeof nextCursor !== 'string' || seen.has(nextCursor)) break
    seen.add(nextCursor)
    cursor = nextCursor
  }
  return all
}

async function answered(ask: Ask, method: string, cursor: string | undefined): Promise<Record<string, unknown> | undefined> {
  try {
    const answer = await ask(method, cursor === undefined ? {} : { cursor })
    return typeof answer === 'object' && answer !== null ? (answer as Record<string, unknown>) : undefined
  } catch (error) {
    if (isClientError(error, 'protocol') && error.details.code === notFound) return undefined
    throw error
  }
}
