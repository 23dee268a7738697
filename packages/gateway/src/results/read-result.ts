import type { CallToolResult } from '@modelcontextprotocol/server'
import { printable } from '@unfold-mcp/core'
import { ToolError } from '@unfold-mcp/server'
import { z } from 'zod'
import { characterStart, partEnd } from '../base/character-boundary.ts'
import { ownerOf } from './owner.ts'
import type { StoredText, ResultStore } from './store.ts'

const input = z.object({
  handle: z.string().max(200),
  offset: z.int().min(0).optional().describe('Where to begin, in characters; where the last part ended, if left out'),
  limit: z.int().min(1).optional().describe('How many characters to read at most'),
  find: z.string().min(1).max(200).optional().describe('Words to look for instead, in capitals or not'),
})

type ReadResultInput = z.output<typeof input>

/** The tool that reads on where a result was cut. */
export const readResultTool = {
  name: 'read_result',
  config: {
    title: 'Read on in a result',
    about: 'Reads on in a result that was cut, or finds words in it. The end of a cut result names its handle.',
    input,
    always: true,
    readOnly: true,
    openWorld: false,
  },
} as const

/** Answers `read_result`. A handle that is unknown, somebody else's or too old is answered in the same words. */
export async function readResult(
  store: ResultStore,
  { handle, offset, limit, find }: ReadResultInput,
  ctx: Parameters<typeof ownerOf>[0],
  most: number,
): Promise<CallToolResult> {
  const kept = store.get(ownerOf(ctx), handle)
  if (kept === undefined)
    throw new ToolError(
      `There is nothing to read by this handle: results are kept for ${Math.round(store.keepMs / 60_000)} minutes at most, the newest longest, and for the client alone that they were sent to. Call the tool again.`,
    )
  if (kept.kind === 'block') {
    if (find !== undefined || offset !== undefined || limit !== undefined)
      throw new ToolError('This is no text: it can only be had whole, by its handle alone.')
    return { content: [kept.block] }
  }
  if (find !== undefined) return places(kept, { handle, find, from: offset ?? 0 })
  return page(kept, { handle, from: offset ?? kept.sent, limit: Math.min(limit ?? most, most) })
}

function page(
  { text, characters }: StoredText,
  { handle, from, limit }: { readonly handle: string; readonly from: number; readonly limit: number },
): CallToolResult {
  if (from >= text.length)
    throw new ToolError(`There is nothing at ${from}: ${endOf(text, characters)} Begin with an offset below that.`)
  const begin = characterStart(text, from)
  const end = partEnd(text, begin, limit)
  const next =
    end === text.length ? endOf(text, characters) : `Read on with read_result ${JSON.stringify({ handle, offset: end })}.`
  return texts(text.slice(begin, end), `[Characters ${begin} to ${end} of ${characters}. ${next}]`)
}

const endOf = (text: string, characters: number): string =>
  text.length === characters ? `It ends at ${characters}.` : `Only the first ${text.length} of ${characters} characters are kept.`

const maxMatches = 20
const before = 80
const after = 160

async function places(
  { text, characters }: StoredText,
  { handle, find, from }: { readonly handle: string; readonly find: string; readonly from: number },
): Promise<CallToolResult> {
  const lines: string[] = []
  let first: number | undefined
  let next: number | undefined
  for await (const { begin, end } of found(text, find, from)) {
    if (lines.length === maxMatches) {
      next = begin
      break
    }
    first ??= begin
    lines.push(`- at ${begin}: ${around(text, begin, end)}`)
  }
  const where = `from ${from} to ${text.length}${text.length === characters ? '' : ` (of ${characters}; the rest is not kept)`}`
  if (lines.length === 0) return texts(`"${printable(find)}" is nowhere in the characters ${where}.`)
  const more =
    next === undefined
      ? 'These are all.'
      : `There is more: look on with read_result ${JSON.stringify({ handle, find, offset: next })}.`
  const reading = `Read from a place with read_result, such as ${JSON.stringify({ handle, offset: first })}.`
  return texts([`"${printable(find)}" in the characters ${where}:`, ...lines].join('\n'), `[${more} ${reading}]`)
}

const stretch = 262_144

/** Where words are in a text. Between one stretch of it and the next others have their turn, for it may be long and the words chosen to take time. */
async function* found(
  text: string,
  find: string,
  from: number,
): AsyncGenerator<{ readonly begin: number; readonly end: number }> {
  // The words stand for themselves; nothing in them is a pattern.
  const pattern = new RegExp(find.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, String.raw`\$&`), 'giu')
  let at = from
  while (at < text.length) {
    const stop = at + stretch
    // Words that begin in this stretch may end in the next.
    const part = text.slice(at, stop + 2 * find.length)
    let last = stop
    pattern.lastIndex = 0
    for (let match = pattern.exec(part); match !== null && at + match.index < stop; match = pattern.exec(part)) {
      const begin = at + match.index
      const end = begin + match[0].length
      yield { begin, end }
      last = Math.max(last, end)
    }
    at = last
    await new Promise((resolve) => setImmediate(resolve))
  }
}

function around(text: string, begin: number, end: number): string {
  const from = characterStart(text, Math.max(0, begin - before))
  const to = characterStart(text, Math.min(text.length, end + after))
  const words = text.slice(from, to).replaceAll(/\s+/gu, ' ')
  return `${from === 0 ? '' : '…'}${words}${to === text.length ? '' : '…'}`
}

const texts = (...lines: readonly string[]): CallToolResult => ({ content: lines.map((text) => ({ type: 'text', text })) })
