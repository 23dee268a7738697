import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/server'
import { metaKeys, printable } from '@unfold-mcp/core'
import { partEnd } from '../base/character-boundary.ts'
import { jsonSize } from '../base/json-size.ts'
import type { Middleware, ProxiedCall, ProxiedResult } from '../middleware/chain.ts'
import { ownerOf } from './owner.ts'
import type { ResultStore, StoredResult } from './store.ts'

export interface TruncationOptions {
  readonly store: ResultStore
  /** Maximum text of a result. */
  readonly maxCharacters: () => number
  /** True if the exposed tool declares an output schema. */
  readonly hasOutputSchema: (upstream: string, tool: string) => boolean
}

/** The limit for images, audio and files is this multiple of the text limit. */
const binaryFactor = 20

/**
 * Truncates long results and stores them for `read_result`, except those of calls that a script makes. Text is cut at a line or
 * character boundary. Images, audio and files that are too large are replaced by a description. Structured content is sent
 * completely or not at all; since only an error may omit structured content that a tool declared, such a result is marked as an
 * error and says that the tool succeeded.
 */
export function truncateResults({ store, maxCharacters, hasOutputSchema }: TruncationOptions): Middleware {
  const truncate = (call: ProxiedCall, result: ProxiedResult): ProxiedResult | Promise<ProxiedResult> => {
    const limit = maxCharacters()
    // Nobody would get the handle: the client cancelled the call, or its session ended.
    if (!isComplete(result) || call.ctx.signal.aborted || fits(result, limit)) return result
    // A script reads the result, not a model: it filters it, and its memory is limited.
    if (call.ctx.script !== undefined) return result
    const handles: string[] = []
    const truncated = new Truncation(result, {
      limit,
      add: (stored) => {
        const handle = store.add(ownerOf(call.ctx), stored)
        if (handle !== undefined) handles.push(handle)
        return handle
      },
      maxStored: store.maxCharacters,
      keepMs: store.keepMs,
      requiresStructure: () => hasOutputSchema(call.upstream, call.tool),
    }).result()
    const writes = handles.flatMap((handle) => store.written(handle) ?? [])
    return writes.length === 0 ? truncated : Promise.all(writes).then(() => truncated)
  }
  return (call, next) => next(call).then((result) => truncate(call, result))
}

const isComplete = (result: ProxiedResult): result is CallToolResult => 'content' in result && Array.isArray(result.content)

function fits({ content, structuredContent, _meta }: CallToolResult, limit: number): boolean {
  let text = 0
  let binary = 0
  for (const block of content) {
    text += costOf(block)
    if (block.type !== 'text') binary += binaryCostOf(binaryOf(block))
  }
  return (
    text <= limit &&
    binary <= limit * binaryFactor &&
    jsonSize(structuredContent, limit) <= limit &&
    jsonSize(_meta, limit) <= limit
  )
}

interface TruncationContext {
  readonly limit: number
  readonly add: (stored: StoredResult) => string | undefined
  readonly maxStored: number
  readonly keepMs: number
  readonly requiresStructure: () => boolean
}

class Truncation {
  readonly #original: CallToolResult
  readonly #context: TruncationContext
  readonly #content: ContentBlock[] = []
  /** The full text in pieces. */
  readonly #pieces: string[] = []
  readonly #notes: string[] = []
  #length = 0
  #room: number
  #binaryRoom: number
  /** Number of characters sent, if the text is truncated. */
  #sent: number | undefined

  constructor(original: CallToolResult, context: TruncationContext) {
    this.#original = original
    this.#context = context
    this.#room = context.limit
    this.#binaryRoom = context.limit * binaryFactor
  }

  result(): CallToolResult {
    const { content, structuredContent, isError, _meta, ...rest } = this.#original
    for (const block of content) this.#add(block)
    const isDropped = structuredContent !== undefined && this.#isTooLong(structuredContent)
    if (isDropped) this.#addStructure(structuredContent)
    const isMarked = isDropped && isError !== true && this.#context.requiresStructure()
    if (isMarked)
      this.#notes.push(
        'The tool succeeded: do not call it again. The result is marked as an error only because its structured content is too long to send.',
      )
    const truncation = this.#sent === undefined ? undefined : this.#storeText(this.#sent)
    const meta = { ...(this.#isTooLong(_meta) ? {} : _meta), ...(truncation !== undefined && { [metaKeys.cut]: truncation }) }
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
    return jsonSize(value, this.#context.limit) > this.#context.limit
  }

  #add(block: ContentBlock): void {
    const binary = binaryOf(block)
    if (binary === undefined) {
      this.#addText(block, textOf(block))
      return
    }
    if (binaryCostOf(binary) <= this.#binaryRoom && costOf(block) <= this.#context.limit) {
      this.#binaryRoom -= binaryCostOf(binary)
      this.#content.push(block)
      return
    }
    const placeholder = this.#storeBinary(block, binary)
    this.#addText(textBlock(placeholder), placeholder)
  }

  /** Adds a piece of text, and its block while there is room. */
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
      this.#notes.push('The structured content is omitted: it is nested too deeply.')
      return
    }
    if (this.#pieces.length === 0) {
      this.#addText(textBlock(json), json)
      return
    }
    const indented = JSON.stringify(value, null, 2)
    // Most servers repeat the structured content as text.
    if (this.#pieces.some((piece) => piece === json || piece === indented)) return
    const { text, handle } = this.#store(json, 0)
    const access = handle === undefined ? 'too long to store' : `read it with read_result ${JSON.stringify({ handle })}`
    this.#notes.push(
      `The structured content is omitted (${json.length} characters of JSON): ${access}${partialNote(text, json)}.`,
    )
  }

  #storeBinary(block: ContentBlock, { kind, mimeType, data }: Binary): string {
    const handle = this.#context.add({ kind: 'block', block, characters: data.length })
    const bytes = Math.floor((data.length * 3) / 4)
    const access = handle === undefined ? 'too large to send or store' : `get it with read_result ${JSON.stringify({ handle })}`
    return `[${kind} of type ${printable(mimeType)}, ${bytes} bytes, omitted: ${access}]`
  }

  #storeText(sent: number): object {
    const full = this.#pieces.join('\n')
    const { text, handle } = this.#store(full, sent)
    const minutes = Math.round(this.#context.keepMs / 60_000)
    this.#notes.push(
      `Truncated: first ${sent} of ${full.length} characters.`,
      handle === undefined
        ? 'The rest is too long to store: request less.'
        : `Continue with read_result ${JSON.stringify({ handle, offset: sent })}, or search with ${JSON.stringify({ handle, find: '…' })}${partialNote(text, full)}. Stored for ${minutes} minutes.`,
    )
    return { characters: full.length, sent, ...(handle !== undefined && { handle }) }
  }

  #store(full: string, sent: number): { readonly text: string; readonly handle: string | undefined } {
    const { maxStored, add } = this.#context
    const text = full.length <= maxStored ? full : copyStart(full, partEnd(full, 0, maxStored))
    return { text, handle: add({ kind: 'text', text, characters: full.length, sent }) }
  }
}

const partialNote = (stored: string, full: string): string =>
  stored.length === full.length ? '' : ` (only the first ${stored.length} characters are stored)`

// A slice would keep the full text in memory.
const copyStart = (text: string, end: number): string => Buffer.from(text.slice(0, end), 'utf16le').toString('utf16le')

// `undefined` if the value is nested too deeply.
function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

const textBlock = (text: string) => ({ type: 'text' as const, text })

const annotated = ({ annotations }: ContentBlock): Pick<ContentBlock, 'annotations'> =>
  annotations === undefined || jsonSize(annotations, freeCost) > freeCost ? {} : { annotations }

interface Binary {
  readonly kind: string
  readonly mimeType: string
  readonly data: string
}

function binaryOf(block: ContentBlock): Binary | undefined {
  if (block.type === 'image') return { kind: 'Image', mimeType: block.mimeType, data: block.data }
  if (block.type === 'audio') return { kind: 'Audio', mimeType: block.mimeType, data: block.data }
  if (block.type !== 'resource' || !('blob' in block.resource)) return undefined
  const { uri, mimeType = 'unknown', blob } = block.resource
  return { kind: `File ${printable(uri)}`, mimeType, data: blob }
}

function textOf(block: ContentBlock): string {
  if (block.type === 'text') return block.text
  if (block.type !== 'resource' || !('text' in block.resource)) return JSON.stringify(block)
  const { uri, mimeType, text } = block.resource
  return `Resource ${printable(uri)}${mimeType === undefined ? '' : ` of type ${printable(mimeType)}`}:\n${text}`
}

// The usual JSON overhead is free, but even an empty block counts.
const freeCost = 256
const minCost = 16

/** Cost of a block against the text limit. */
function costOf(block: ContentBlock): number {
  if (isBareText(block)) return Math.max(minCost, block.text.length)
  const main = payloadOf(block).length
  const overhead = Math.max(0, jsonSize(block) - main - freeCost)
  return binaryOf(block) === undefined ? Math.max(minCost, main + overhead) : overhead
}

const isBareText = (block: ContentBlock): block is ContentBlock & { readonly type: 'text' } =>
  block.type === 'text' && Object.keys(block).length === 2

const binaryCostOf = (binary: Binary | undefined): number => (binary === undefined ? 0 : Math.max(minCost, binary.data.length))

function payloadOf(block: ContentBlock): string {
  if (block.type === 'text') return block.text
  if (block.type === 'image' || block.type === 'audio') return block.data
  if (block.type !== 'resource') return ''
  return 'text' in block.resource ? block.resource.text : block.resource.blob
}
