import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/server'
import { metaKeys, printable } from '@unfold-mcp/core'
import { partEnd } from '../base/character-boundary.ts'
import { sizeOf } from '../base/json-size.ts'
import type { Middleware, ProxiedCall, ProxiedResult } from '../middleware/chain.ts'
import { ownerOf } from './owner.ts'
import type { StoredResult, ResultStore } from './store.ts'

export interface TruncationOptions {
  readonly store: ResultStore
  /** How much text of a result is sent at once. */
  readonly maxCharacters: () => number
  /** Whether clients were told that a tool always answers with structured content. */
  readonly promisesStructure: (upstream: string, tool: string) => boolean
}

/** How many characters of images, sound and files are sent for each of text: a model does not read them letter by letter. */
const binaryFactor = 20

/**
 * Sends only the first part of a long result, and keeps the whole for `read_result`. Text is cut at the end of a line or
 * character. Images, sound and files that are too large are described in their place. Structured content is never cut inside:
 * what is too long is left out, and since a tool that promised it may leave it out of an error alone, the result then is one,
 * and says that the tool did its work.
 */
export function truncateResults({ store, maxCharacters, promisesStructure }: TruncationOptions): Middleware {
  const cut = (call: ProxiedCall, result: ProxiedResult): ProxiedResult => {
    const limit = maxCharacters()
    if (!isWhole(result) || fits(result, limit)) return result
    return new Cut(result, {
      limit,
      keep: (kept) => store.keep(ownerOf(call.ctx), kept),
      mostKept: store.maxCharacters,
      keepMs: store.keepMs,
      isPromised: () => promisesStructure(call.upstream, call.tool),
    }).result()
  }
  return (call, next) => next(call).then((result) => cut(call, result))
}

const isWhole = (result: ProxiedResult): result is CallToolResult => 'content' in result && Array.isArray(result.content)

function fits({ content, structuredContent, _meta }: CallToolResult, limit: number): boolean {
  let text = 0
  let binary = 0
  for (const block of content) {
    text += costOf(block)
    if (block.type !== 'text') binary += binaryCostOf(binaryOf(block))
  }
  return (
    text <= limit && binary <= limit * binaryFactor && sizeOf(structuredContent, limit) <= limit && sizeOf(_meta, limit) <= limit
  )
}

interface TruncationContext {
  readonly limit: number
  readonly keep: (kept: StoredResult) => string | undefined
  readonly mostKept: number
  readonly keepMs: number
  readonly isPromised: () => boolean
}

/** One result on its way to being shorter. */
class Cut {
  readonly #given: CallToolResult
  readonly #around: TruncationContext
  readonly #content: ContentBlock[] = []
  /** The whole text, piece by piece. */
  readonly #pieces: string[] = []
  readonly #notes: string[] = []
  #length = 0
  #room: number
  #binaryRoom: number
  /** Up to where the text is sent, once that is not to its end. */
  #sent: number | undefined

  constructor(given: CallToolResult, around: TruncationContext) {
    this.#given = given
    this.#around = around
    this.#room = around.limit
    this.#binaryRoom = around.limit * binaryFactor
  }

  result(): CallToolResult {
    const { content, structuredContent, isError, _meta, ...rest } = this.#given
    for (const block of content) this.#add(block)
    const isDropped = structuredContent !== undefined && this.#isTooLong(structuredContent)
    if (isDropped) this.#addStructure(structuredContent)
    const isMarked = isDropped && isError !== true && this.#around.isPromised()
    if (isMarked)
      this.#notes.push(
        'The tool did its work: do not call it again for this. It is marked as an error because its structured content, which it promises, is too long to be sent.',
      )
    const cut = this.#sent === undefined ? undefined : this.#keepText(this.#sent)
    const meta = { ...(this.#isTooLong(_meta) ? {} : _meta), ...(cut !== undefined && { [metaKeys.cut]: cut }) }
    const note = this.#notes.length === 0 ? [] : [textBlock(`[${this.#notes.join(' ')}]`)]
    return {
      ...rest,
      content: [...this.#content, ...note],
      ...(structuredContent !== undefined && !isDropped && { structuredContent }),
      ...((isError === true || isMarked) && { isError: true }),
      ...(Object.keys(meta).length > 0 && { _meta: meta }),
    }
  }

  #isTooLong(value: unknown): boolean {
    return sizeOf(value, this.#around.limit) > this.#around.limit
  }

  #add(block: ContentBlock): void {
    const binary = binaryOf(block)
    if (binary === undefined) {
      this.#addText(block, textOf(block))
      return
    }
    if (binaryCostOf(binary) <= this.#binaryRoom && costOf(block) <= this.#around.limit) {
      this.#binaryRoom -= binaryCostOf(binary)
      this.#content.push(block)
      return
    }
    const words = this.#keepBinary(block, binary)
    this.#addText(textBlock(words), words)
  }

  /** A piece of text, and the block that shows it while there is room. */
  #addText(block: ContentBlock, text: string): void {
    const begin = this.#length === 0 ? 0 : this.#length + 1
    this.#pieces.push(text)
    this.#length = begin + text.length
    if (this.#sent !== undefined) return
    const cost = costOf(block)
    if (cost <= this.#room) {
      this.#room -= cost
      this.#content.push(block)
      return
    }
    const end = this.#room === 0 ? 0 : partEnd(text, 0, this.#room)
    this.#sent = begin + end
    if (end > 0) this.#content.push({ ...annotated(block), ...textBlock(text.slice(0, end)) })
  }

  #addStructure(value: unknown): void {
    const json = jsonOf(value)
    if (json === undefined) {
      this.#notes.push('The structured content is left out: it is nested too deeply.')
      return
    }
    if (this.#pieces.length === 0) {
      this.#addText(textBlock(json), json)
      return
    }
    const indented = JSON.stringify(value, null, 2)
    // Most servers say the same once more as text.
    if (this.#pieces.some((piece) => piece === json || piece === indented)) return
    const { text, handle } = this.#kept(json, 0)
    const where = handle === undefined ? 'too long to be kept' : `read it with read_result ${JSON.stringify({ handle })}`
    this.#notes.push(`The structured content is left out (${json.length} characters of JSON): ${where}${beyond(text, json)}.`)
  }

  #keepBinary(block: ContentBlock, { kind, mimeType, data }: Binary): string {
    const handle = this.#around.keep({ kind: 'block', block, characters: data.length })
    const bytes = Math.floor((data.length * 3) / 4)
    const where =
      handle === undefined ? 'too large to be sent or kept' : `have it whole with read_result ${JSON.stringify({ handle })}`
    return `[${kind} of type ${printable(mimeType)}, ${bytes} bytes, left out: ${where}]`
  }

  #keepText(sent: number): object {
    const whole = this.#pieces.join('\n')
    const { text, handle } = this.#kept(whole, sent)
    const minutes = Math.round(this.#around.keepMs / 60_000)
    this.#notes.push(
      `Cut: this is the first ${sent} of ${whole.length} characters.`,
      handle === undefined
        ? 'The rest is too long to be kept: ask for less.'
        : `Read on with read_result ${JSON.stringify({ handle, offset: sent })}, or look for words with ${JSON.stringify({ handle, find: '…' })}${beyond(text, whole)}. Kept for ${minutes} minutes.`,
    )
    return { characters: whole.length, sent, ...(handle !== undefined && { handle }) }
  }

  #kept(whole: string, sent: number): { readonly text: string; readonly handle: string | undefined } {
    const { mostKept, keep } = this.#around
    const text = whole.length <= mostKept ? whole : copied(whole, partEnd(whole, 0, mostKept))
    return { text, handle: keep({ kind: 'text', text, characters: whole.length, sent }) }
  }
}

const beyond = (kept: string, whole: string): string =>
  kept.length === whole.length ? '' : ` (only the first ${kept.length} characters are kept)`

// A slice would keep the whole text in memory.
const copied = (text: string, end: number): string => Buffer.from(text.slice(0, end), 'utf16le').toString('utf16le')

/** A value as JSON; nothing for one that is too deep for that. */
function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

const textBlock = (text: string) => ({ type: 'text' as const, text })

const annotated = ({ annotations }: ContentBlock): Pick<ContentBlock, 'annotations'> =>
  annotations === undefined || sizeOf(annotations, freeCost) > freeCost ? {} : { annotations }

interface Binary {
  readonly kind: string
  readonly mimeType: string
  readonly data: string
}

function binaryOf(block: ContentBlock): Binary | undefined {
  if (block.type === 'image') return { kind: 'Image', mimeType: block.mimeType, data: block.data }
  if (block.type === 'audio') return { kind: 'Sound', mimeType: block.mimeType, data: block.data }
  if (block.type !== 'resource' || !('blob' in block.resource)) return undefined
  const { uri, mimeType = 'unknown', blob } = block.resource
  return { kind: `File ${printable(uri)}`, mimeType, data: blob }
}

/** The text of a block that is no image, sound or file; of one that is neither text, all that it holds. */
function textOf(block: ContentBlock): string {
  if (block.type === 'text') return block.text
  if (block.type !== 'resource' || !('text' in block.resource)) return JSON.stringify(block)
  const { uri, mimeType, text } = block.resource
  return `Resource ${printable(uri)}${mimeType === undefined ? '' : ` of type ${printable(mimeType)}`}:\n${text}`
}

// What usually stands around a text is not counted, and even an empty block counts.
const freeCost = 256
const minCost = 16

/** How much of the room for text a block takes. */
function costOf(block: ContentBlock): number {
  if (isBareText(block)) return Math.max(minCost, block.text.length)
  const main = mainOf(block).length
  const around = Math.max(0, sizeOf(block) - main - freeCost)
  return binaryOf(block) === undefined ? Math.max(minCost, main + around) : around
}

const isBareText = (block: ContentBlock): block is ContentBlock & { readonly type: 'text' } =>
  block.type === 'text' && Object.keys(block).length === 2

const binaryCostOf = (binary: Binary | undefined): number => (binary === undefined ? 0 : Math.max(minCost, binary.data.length))

function mainOf(block: ContentBlock): string {
  if (block.type === 'text') return block.text
  if (block.type === 'image' || block.type === 'audio') return block.data
  if (block.type !== 'resource') return ''
  return 'text' in block.resource ? block.resource.text : block.resource.blob
}
