import { headerProblem, isRecord, printable, type Tool } from '@unfold-mcp/core'
import { ClientError, tooLarge } from '../errors/errors.ts'
import type { Link } from '../session/session.ts'
import { identityIn } from './identity.ts'

/** A whole list, as the server gave it. */
export interface Listing {
  /** What can be used of it. */
  readonly tools: readonly Tool[]
  /** All of it, which is what its identity is about. */
  readonly all: readonly Tool[]
  /** What the server says the identity of this list is. */
  readonly identity?: string
  /** How long it is good without asking. */
  readonly ttlMs?: number
}

export interface ListingOptions {
  readonly timeoutMs: number
  readonly maxBytes: number
  readonly onWarning: (warning: string) => void
  readonly signal?: AbortSignal | undefined
}

const mostPages = 1_000
const mostTools = 100_000
const attempts = 3

/** Lists every tool, page by page. A list that changes while it is read is read again. */
export async function listAll(link: Link, options: ListingOptions): Promise<Listing> {
  if (link.agreement.capabilities.tools === undefined) return { tools: [], all: [] }
  for (let attempt = 1; ; attempt++) {
    const { all, identities, ttlMs } = await pagesOf(link, options)
    const isWhole = identities.size <= 1
    if (!isWhole && attempt < attempts) continue
    const [identity] = identities
    return {
      all,
      tools: usableTools(all, link, options.onWarning),
      ...(isWhole && identity !== undefined && { identity }),
      ...(ttlMs !== undefined && { ttlMs }),
    }
  }
}

async function pagesOf(link: Link, { timeoutMs, maxBytes, onWarning, signal }: ListingOptions) {
  const what = `Listing the tools of ${link.label}`
  const all: Tool[] = []
  const identities = new Set<string>()
  const cursors = new Set<string>()
  const before = link.received
  let ttlMs: number | undefined
  let cursor: string | undefined
  for (let pages = 0; ; pages++) {
    if (pages >= mostPages) throw endless(`${what} did not end after ${mostPages} pages.`)
    const params = cursor === undefined ? {} : { cursor }
    const page = await link.request('tools/list', params, { what, timeout: timeoutMs, ...(signal !== undefined && { signal }) })
    if (!isRecord(page) || !Array.isArray(page.tools)) throw endless(`${what} failed: a page holds no list of tools.`)
    for (const tool of page.tools) {
      if (isTool(tool)) all.push(tool)
      else onWarning(`${link.label} lists a tool without a name or without a schema, and it is left out.`)
    }
    const identity = identityIn(page)
    if (identity !== undefined) identities.add(identity)
    if (pages === 0 && typeof page.ttlMs === 'number') ttlMs = page.ttlMs
    const next = page.nextCursor
    if (typeof next !== 'string') return { all, identities, ttlMs }
    if (cursors.has(next)) throw endless(`${what} failed: the pages go in a circle.`)
    cursors.add(next)
    cursor = next
    if (all.length > mostTools) throw endless(`${what} failed: there are more than ${mostTools}.`)
    if (link.received - before > maxBytes) throw tooLarge(`The list of tools of ${link.label}`, maxBytes)
  }
}

const endless = (problem: string): ClientError => new ClientError('protocol', `${problem} The server is at fault.`, { problem })

const isTool = (value: unknown): value is Tool =>
  isRecord(value) && typeof value.name === 'string' && value.name !== '' && isRecord(value.inputSchema)

/** The tools that can be used over this link: each name once, and none that would break the protocol's rules. */
export function usableTools(all: readonly Tool[], link: Link, onWarning: (warning: string) => void): readonly Tool[] {
  const names = new Set<string>()
  const leaveOut = (tool: Tool, why: string): boolean => {
    onWarning(`The tool "${printable(tool.name)}" of ${link.label} is left out: ${printable(why, 300)}.`)
    return false
  }
  return all.filter((tool) => {
    if (names.has(tool.name)) return leaveOut(tool, 'another has the same name')
    names.add(tool.name)
    const problem = link.needsHeaders ? headerProblem(tool.inputSchema) : undefined
    return problem === undefined || leaveOut(tool, problem)
  })
}
