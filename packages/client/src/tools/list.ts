import { headerProblem, isRecord, isTool, printable, type Tool } from '@unfold-mcp/core'
import { ClientError, tooLarge } from '../errors/errors.ts'
import type { Session } from '../session/session.ts'
import { identityIn } from './identity.ts'

/** Complete tool list of a server. */
export interface Listing {
  /** The usable tools. */
  readonly tools: readonly Tool[]
  /** All tools, which the identity covers. */
  readonly all: readonly Tool[]
  /** Identity sent with the list. */
  readonly identity?: string
  /** Time to live of the list. */
  readonly ttlMs?: number
}

export interface ListingOptions {
  readonly timeoutMs: number
  readonly maxBytes: number
  readonly onWarning: (warning: string) => void
  readonly signal?: AbortSignal | undefined
}

const maxPages = 1_000
const maxTools = 100_000
const maxAttempts = 3

/** Lists every tool, page by page, and starts over if the list changes meanwhile. */
export async function listAll(session: Session, options: ListingOptions): Promise<Listing> {
  if (session.agreement.capabilities.tools === undefined) return { tools: [], all: [] }
  for (let attempt = 1; ; attempt++) {
    const { all, identities, ttlMs } = await readPages(session, options)
    const isConsistent = identities.size <= 1
    if (!isConsistent && attempt < maxAttempts) continue
    const [identity] = identities
    return {
      all,
      tools: usableTools(all, session, options.onWarning),
      ...(isConsistent && identity !== undefined && { identity }),
      ...(ttlMs !== undefined && { ttlMs }),
    }
  }
}

async function readPages(session: Session, { timeoutMs, maxBytes, onWarning, signal }: ListingOptions) {
  const what = 'tools/list'
  const all: Tool[] = []
  const identities = new Set<string>()
  const cursors = new Set<string>()
  const before = session.received
  let ttlMs: number | undefined
  let cursor: string | undefined
  for (let pages = 0; ; pages++) {
    if (pages >= maxPages) throw listFailure(`${session.label} sends more than ${maxPages} pages`)
    const params = cursor === undefined ? {} : { cursor }
    const page = await session.request('tools/list', params, {
      what,
      timeout: timeoutMs,
      ...(signal !== undefined && { signal }),
    })
    if (!isRecord(page) || !Array.isArray(page.tools)) throw listFailure(`${session.label} sent a page without tools`)
    for (const tool of page.tools) {
      if (isTool(tool)) all.push(tool)
      else onWarning(`${session.label} lists a tool without a name or schema; ignored.`)
    }
    const identity = identityIn(page)
    if (identity !== undefined) identities.add(identity)
    if (pages === 0 && typeof page.ttlMs === 'number') ttlMs = page.ttlMs
    const next = page.nextCursor
    if (typeof next !== 'string') return { all, identities, ttlMs }
    if (cursors.has(next)) throw listFailure(`${session.label} sent the same cursor twice`)
    cursors.add(next)
    cursor = next
    if (all.length > maxTools) throw listFailure(`${session.label} lists more than ${maxTools} tools`)
    if (session.received - before > maxBytes) throw tooLarge(`The tool list of ${session.label}`, maxBytes)
  }
}

const listFailure = (problem: string): ClientError =>
  new ClientError('protocol', `tools/list failed: ${problem}. This is a bug in the server.`, { problem })

/** Returns the tools that can be used in this session: unique names and valid header annotations. */
export function usableTools(all: readonly Tool[], session: Session, onWarning: (warning: string) => void): readonly Tool[] {
  const names = new Set<string>()
  const leaveOut = (tool: Tool, why: string): boolean => {
    onWarning(`Tool "${printable(tool.name)}" of ${session.label} is ignored: ${printable(why, 300)}.`)
    return false
  }
  return all.filter((tool) => {
    if (names.has(tool.name)) return leaveOut(tool, 'duplicate name')
    names.add(tool.name)
    const problem = session.needsHeaders ? headerProblem(tool.inputSchema) : undefined
    return problem === undefined || leaveOut(tool, problem)
  })
}
