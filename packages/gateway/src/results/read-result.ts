import type { CallToolResult } from '@modelcontextprotocol/server'
import { printable } from '@unfold-mcp/core'
import { ToolError } from '@unfold-mcp/server'
import * as z from 'zod'
import { characterStart, partEnd } from '../base/character-boundary.ts'
import { ownerOf } from './owner.ts'
import type { Release, ResultStore, StoredText } from './store.ts'

const input = z.object({
  handle: z.string().max(200),
  offset: z.int().min(0).optional().describe('Start position in characters. Default: where the last part ended'),
  limit: z.int().min(1).optional().describe('Maximum number of characters'),
  find: z.string().min(1).max(200).optional().describe('Text to search for instead, case-insensitive'),
})

type ReadResultInput = z.output<typeof input>

export const readResultTool = {
  name: 'read_result',
  config: {
    title: 'Read the rest of a result',
    description: 'Reads the rest of a truncated result, or searches it. The end of a truncated result names its handle.',
    input,
    always: true,
    readOnly: true,
    openWorld: false,
  },
} as const

/** Handles `read_result`. The error for a handle of another client is the same as for an unknown one. */
export async function readResult(
  store: ResultStore,
  { handle, offset, limit, find }: ReadResultInput,
  ctx: Parameters<typeof ownerOf>[0],
  maxCharacters: number,
): Promise<CallToolResult> {
  const owner = ownerOf(ctx)
  const stored = await store.find(owner, handle)
  if (stored === undefined) throw new ToolError(missingMessage(store.releaseOf(owner, handle), store.keepMs))
  if (stored.kind === 'block') {
    if (find !== undefined || offset !== undefined || limit !== undefined)
      throw new ToolError('This is not text. Use the handle without offset, limit and find.')
    return { content: [stored.block] }
  }
  if (find !== undefined) return matches(stored, { handle, find, from: offset ?? 0 })
  return page(stored, { handle, from: offset ?? stored.sent, limit: Math.min(limit ?? maxCharacters, maxCharacters) })
}

function missingMessage(release: Release | undefined, keepMs: number): string {
  const minutes = Math.round(keepMs / 60_000)
  if (release === 'expired') return `This result has expired: results are stored for ${minutes} minutes. Call the tool again.`
  if (release === 'evicted')
    return 'This result was removed to make room for newer results. Call the tool again, and read its result before you request others.'
  if (release === 'ended') return 'This result was removed when the session that received it ended. Call the tool again.'
  return `Unknown or expired handle. A result can be read by the client that received it, for at most ${minutes} minutes and until its session ends. Call the tool again.`
}

function page(
  { text, characters }: StoredText,
  { handle, from, limit }: { readonly handle: string; readonly from: number; readonly limit: number },
): CallToolResult {
  if (from >= text.length) throw new ToolError(`Offset ${from} is out of range: ${extent(text, characters)}`)
  const begin = characterStart(text, from)
  const end = partEnd(text, begin, limit)
  const next =
    end === text.length ? extent(text, characters) : `Continue with read_result ${JSON.stringify({ handle, offset: end })}.`
  return texts(text.slice(begin, end), `[Characters ${begin} to ${end} of ${characters}. ${next}]`)
}

const extent = (text: string, characters: number): string =>
  text.length === characters
    ? `The result has ${characters} characters.`
    : `Only the first ${text.length} of ${characters} characters are stored.`

const maxMatches = 20
const excerptBefore = 80
const excerptAfter = 160

async function matches(
  { text, characters }: StoredText,
  { handle, find, from }: { readonly handle: string; readonly find: string; readonly from: number },
): Promise<CallToolResult> {
  const lines: string[] = []
  let first: number | undefined
  let next: number | undefined
  for await (const { begin, end } of findAll(text, find, from)) {
    if (lines.length === maxMatches) {
      next = begin
      break
    }
    first ??= begin
    lines.push(`- at ${begin}: ${excerpt(text, begin, end)}`)
  }
  const range = `characters ${from} to ${text.length}${text.length === characters ? '' : ` (of ${characters}; the rest is not stored)`}`
  if (lines.length === 0) return texts(`No matches for "${printable(find)}" in ${range}.`)
  const more =
    next === undefined ? 'No more matches.' : `More matches: read_result ${JSON.stringify({ handle, find, offset: next })}.`
  const hint = `Read at a match with read_result ${JSON.stringify({ handle, offset: first })}.`
  return texts([`"${printable(find)}" in ${range}:`, ...lines].join('\n'), `[${more} ${hint}]`)
}

const chunkSize = 262_144

/** Finds a text, yielding to the event loop after each chunk. */
async function* findAll(
  text: string,
  find: string,
  from: number,
): AsyncGenerator<{ readonly begin: number; readonly end: number }> {
  const pattern = new RegExp(find.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, String.raw`\$&`), 'giu')
  let at = from
  while (at < text.length) {
    const chunkEnd = at + chunkSize
    // A match may extend into the next chunk.
    const chunk = text.slice(at, chunkEnd + 2 * find.length)
    let last = chunkEnd
    pattern.lastIndex = 0
    for (let match = pattern.exec(chunk); match !== null && at + match.index < chunkEnd; match = pattern.exec(chunk)) {
      const begin = at + match.index
      const end = begin + match[0].length
      yield { begin, end }
      last = Math.max(last, end)
    }
    at = last
    await new Promise((resolve) => setImmediate(resolve))
  }
}

function excerpt(text: string, begin: number, end: number): string {
  const from = characterStart(text, Math.max(0, begin - excerptBefore))
  const to = characterStart(text, Math.min(text.length, end + excerptAfter))
  const line = text.slice(from, to).replaceAll(/\s+/gu, ' ')
  return `${from === 0 ? '' : '…'}${line}${to === text.length ? '' : '…'}`
}

const texts = (...lines: readonly string[]): CallToolResult => ({ content: lines.map((text) => ({ type: 'text', text })) })
