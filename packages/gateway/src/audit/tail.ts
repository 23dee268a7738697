import { openRegularFile } from '@unfold-mcp/core/files'
import { type ChainPosition, hashLine, parseRecord } from './record.ts'

/** End of an audit file. */
export interface Tail {
  /** The last complete line, if it is a record. */
  readonly last?: ChainPosition
  /** Whether there is a complete line. */
  readonly hasLine: boolean
  /** Bytes after the last line feed: a record that was not written completely. */
  readonly partial: Uint8Array
}

const firstRead = 65_536
const lineFeed = 0x0a

/** Reads the last line of a file, however long it is. */
export async function readTail(path: string): Promise<Tail> {
  await using handle = await openRegularFile(path)
  const { size } = await handle.stat()
  for (let length = Math.min(size, firstRead); ; length = Math.min(size, length * 2)) {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, size - length)
    const bytes = buffer.subarray(0, bytesRead)
    const end = bytes.lastIndexOf(lineFeed)
    const start = end < 1 ? -1 : bytes.lastIndexOf(lineFeed, end - 1)
    if (length < size && (end === -1 || start === -1)) continue
    const partial = bytes.subarray(end + 1)
    if (end === -1) return { hasLine: false, partial }
    const line = bytes.subarray(start + 1, end)
    const record = parseRecord(line)
    return { hasLine: true, partial, ...(record !== undefined && { last: { seq: record.seq, hash: hashLine(line) } }) }
  }
}
