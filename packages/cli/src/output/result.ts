import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { CallResult } from '@unfold-mcp/client'
import type { Io } from '../base/io.ts'
import { type Flags, isSet, textOf } from '../grammar/grammar.ts'
import { safeText } from '../text/safe.ts'
import type { Output } from './output.ts'

interface ResultOptions {
  readonly io: Io
  readonly output: Output
  readonly flags: Flags
  readonly server: string
  readonly tool: string
}

type Block = CallResult['content'][number]

/** Prints the result of a tool as text or JSON, or writes it to --output. */
export async function writeResult(result: CallResult, { io, output, flags, server, tool }: ResultOptions): Promise<void> {
  for (const { path, message } of result.outputProblems)
    output.warn(`The result of ${tool} does not match its output schema: ${path} ${message}`)
  const file = textOf(flags, 'output')
  const fullResult = {
    content: result.content,
    structuredContent: result.structuredContent,
    isError: result.isError,
    _meta: result._meta,
  }
  if (isSet(flags, 'raw')) {
    output.result(JSON.stringify(fullResult, undefined, 2), fullResult)
    return
  }
  if (file !== undefined) {
    const path = resolve(io.cwd, file)
    await writeFile(path, bytesOf(result))
    output.result('', { server, tool, isError: result.isError, file: path })
    output.note(`Wrote ${path}`)
    return
  }
  const images = output.isJson ? new Map<Block, string>() : await savedImages(result, io, tool)
  output.result(textFor(result, images), { server, tool, ...fullResult })
}

/** The only text, image or audio block, otherwise everything as JSON. */
function bytesOf({ content, structuredContent }: CallResult): string | Buffer {
  const [only, ...others] = content
  if (others.length === 0 && only !== undefined) {
    if (only.type === 'text') return only.text
    if (only.type === 'image' || only.type === 'audio') return Buffer.from(only.data, 'base64')
  }
  return JSON.stringify(structuredContent ?? content, undefined, 2)
}

async function savedImages({ content }: CallResult, io: Io, tool: string): Promise<ReadonlyMap<Block, string>> {
  if (!content.some(({ type }) => type === 'image' || type === 'audio')) return new Map()
  const { saveMedia } = await import('./media.ts')
  return saveMedia(content, io, tool)
}

function textFor({ content, structuredContent }: CallResult, saved: ReadonlyMap<Block, string>): string {
  const lines = content.map((block) => blockText(block, saved))
  if (lines.length === 0 && structuredContent !== undefined)
    return safeText(JSON.stringify(structuredContent, undefined, 2), { lines: true })
  return lines.join('\n')
}

function blockText(block: Block, saved: ReadonlyMap<Block, string>): string {
  if (block.type === 'text') return safeText(block.text, { lines: true })
  if (block.type === 'resource_link') return `${safeText(block.name)}: ${safeText(block.uri)}`
  if (block.type === 'resource')
    return 'text' in block.resource ? safeText(block.resource.text, { lines: true }) : `[${safeText(block.resource.uri)}]`
  const file = saved.get(block)
  return `[${block.type}, ${safeText(block.mimeType)}${file === undefined ? '' : `: ${file}`}]`
}
