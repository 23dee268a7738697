const newline = 0x0a

/** Cuts bytes into lines, each with its end, and keeps every byte as it is. */
export class ByteLines {
  #parts: Buffer[] = []

  /** The lines that end in this chunk. */
  add(chunk: Buffer): readonly Buffer[] {
    const lines: Buffer[] = []
    for (let start = 0; start < chunk.length; ) {
      const end = chunk.indexOf(newline, start) + 1
      const part = chunk.subarray(start, end === 0 ? chunk.length : end)
      this.#parts.push(part)
      if (end === 0) break
      lines.push(this.#parts.length === 1 ? part : Buffer.concat(this.#parts))
      this.#parts = []
      start = end
    }
    return lines
  }
}
