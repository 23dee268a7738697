import { randomUUID } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CallResult } from '@unfold-mcp/client'
import { fileNameFor } from '@unfold-mcp/core'
import { dataFolder, type Io } from '../base/io.ts'

type Block = CallResult['content'][number]

const maxShown = 10_000_000

/** Saves images and audio to files, and displays images if the terminal supports it. Returns the file of each block. */
export async function saveMedia(content: readonly Block[], io: Io, tool: string): Promise<ReadonlyMap<Block, string>> {
  const folder = join(dataFolder(io), 'media')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const files = new Map<Block, string>()
  const toInlineImage = imageProtocol(io)
  for (const block of content) {
    if (block.type !== 'image' && block.type !== 'audio') continue
    const bytes = Buffer.from(block.data, 'base64')
    const path = join(folder, fileNameFor(tool, block.mimeType, randomUUID().slice(0, 8)))
    await writeFile(path, bytes, { flag: 'wx', mode: 0o600 })
    files.set(block, path)
    const inlineImage = block.type === 'image' && bytes.length <= maxShown ? toInlineImage?.(bytes) : undefined
    if (inlineImage !== undefined) io.stdout.write(`${inlineImage}\n`)
  }
  return files
}

/** Inline image protocol of the terminal, if known. */
function imageProtocol({ env, stdout }: Pick<Io, 'env' | 'stdout'>): ((bytes: Buffer) => string | undefined) | undefined {
  // Multiplexers swallow the escape sequences.
  if (stdout.isTTY !== true || env.TMUX !== undefined || env.STY !== undefined) return undefined
  if (env.KITTY_WINDOW_ID !== undefined || env.TERM === 'xterm-kitty' || env.TERM_PROGRAM === 'ghostty') return kitty
  if (env.TERM_PROGRAM === 'iTerm.app' || env.TERM_PROGRAM === 'WezTerm' || env.LC_TERMINAL === 'iTerm2') return iterm
  return undefined
}

const esc = '\u001b'
const pngStart = Buffer.from([0x89, 0x50, 0x4e, 0x47])
const chunkLength = 4_096

// Re-encoded, so that no server text reaches the terminal.
function kitty(bytes: Buffer): string | undefined {
  if (!bytes.subarray(0, 4).equals(pngStart)) return undefined
  const data = bytes.toString('base64')
  const chunks = data.match(new RegExp(`.{1,${chunkLength}}`, 'gu')) ?? []
  return chunks
    .map((chunk, at) => `${esc}_G${at === 0 ? 'a=T,f=100,' : ''}m=${at < chunks.length - 1 ? 1 : 0};${chunk}${esc}\\`)
    .join('')
}

const iterm = (bytes: Buffer): string =>
  `${esc}]1337;File=inline=1;size=${bytes.length};preserveAspectRatio=1:${bytes.toString('base64')}\u0007`
