import { ByteLines } from '@unfold-mcp/core'
import { openRegularFile } from '@unfold-mcp/core/files'

/** A line of a file. */
export interface FileLine {
  /** Counted from 1. */
  readonly number: number
  /** Without the line feed. */
  readonly bytes: Uint8Array
  /** False for a last line without a line feed. */
  readonly isComplete: boolean
}

const chunkSize = 262_144

/** Reads the lines of a regular file, from its beginning to its current end. */
export async function* readLines(path: string): AsyncGenerator<FileLine> {
  await using handle = await openRegularFile(path)
  const lines = new ByteLines({ allocate: (size) => Buffer.allocUnsafe(size) })
  let number = 0
  for (let at = 0; ; ) {
    // A new buffer each time, because lines refer to it.
    const chunk = Buffer.allocUnsafe(chunkSize)
    const { bytesRead } = await handle.read(chunk, 0, chunkSize, at)
    if (bytesRead === 0) break
    at += bytesRead
    for (const bytes of lines.add(chunk.subarray(0, bytesRead)))
      yield { number: ++number, bytes: bytes ?? Buffer.alloc(0), isComplete: true }
  }
  const rest = lines.rest()
  if (rest !== undefined) yield { number: ++number, bytes: rest, isComplete: false }
}
