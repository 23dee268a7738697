/** Chunks of a response body, read one at a time. */
export interface BodyChunks {
  /** Returns `undefined` at the end. */
  next(): Promise<Uint8Array | undefined>
  cancel(reason?: unknown): Promise<void>
}

export function bodyChunks(body: ReadableStream<Uint8Array>): BodyChunks {
  const reader = body.getReader()
  return {
    next: async () => (await reader.read()).value,
    cancel: (reason) => reader.cancel(reason),
  }
}
