import { randomUUID } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client'
import { fileNameFor } from '@unfold-mcp/core'

/** Where to save parts of a result that are large or binary. */
export interface SaveTo {
  readonly directory: string
  /** Maximum size of text that is not saved, in bytes. Default: 100 000. Binary parts are always saved. */
  readonly above?: number
}

/** Part of a result that was written to a file. */
export interface SavedFile {
  readonly path: string
  readonly mimeType: string
  readonly bytes: number
  /** Index in `content`, or the structured content. */
  readonly part: number | 'structured'
}

const defaultMaxBytes = 100_000

/** Writes the large parts of a result to files and replaces them with links. */
export async function saveLargeParts(
  tool: string,
  result: CallToolResult,
  saveTo: string | SaveTo,
): Promise<{ readonly result: CallToolResult; readonly files: readonly SavedFile[] }> {
  const { directory, above = defaultMaxBytes } = typeof saveTo === 'string' ? { directory: saveTo } : saveTo
  const files: SavedFile[] = []
  const save = async (data: Buffer, mimeType: string, part: number | 'structured'): Promise<SavedFile> => {
    await mkdir(directory, { recursive: true })
    const name = fileNameFor(tool, mimeType, randomUUID().slice(0, 8))
    const path = resolve(join(directory, name))
    await writeFile(path, data, { flag: 'wx', mode: 0o600 })
    const file = { path, mimeType, bytes: data.length, part }
    files.push(file)
    return file
  }
  const content: ContentBlock[] = []
  for (const [index, block] of result.content.entries()) {
    const large = largePart(block, above)
    content.push(large === undefined ? block : linkTo(await save(large.data, large.mimeType, index)))
  }
  const { structuredContent, ...rest } = result
  const text = structuredContent === undefined ? '' : JSON.stringify(structuredContent)
  const isLarge = Buffer.byteLength(text) > above
  if (isLarge) await save(Buffer.from(text), 'application/json', 'structured')
  return { result: { ...rest, content, ...(structuredContent !== undefined && !isLarge && { structuredContent }) }, files }
}

function largePart(block: ContentBlock, above: number): { readonly data: Buffer; readonly mimeType: string } | undefined {
  if (block.type === 'image' || block.type === 'audio')
    return { data: Buffer.from(block.data, 'base64'), mimeType: block.mimeType }
  const { text, mimeType = 'text/plain' } = block.type === 'resource' && 'text' in block.resource ? block.resource : textOf(block)
  if (text !== undefined) return Buffer.byteLength(text) > above ? { data: Buffer.from(text), mimeType } : undefined
  if (block.type !== 'resource' || !('blob' in block.resource)) return undefined
  const { blob, mimeType: type = 'application/octet-stream' } = block.resource
  return { data: Buffer.from(blob, 'base64'), mimeType: type }
}

const textOf = (block: ContentBlock): { readonly text: string | undefined; readonly mimeType?: string } => ({
  text: block.type === 'text' ? block.text : undefined,
})

function linkTo({ path, mimeType, bytes }: SavedFile): ContentBlock {
  return { type: 'resource_link', uri: pathToFileURL(path).href, name: basename(path), mimeType, size: bytes }
}
