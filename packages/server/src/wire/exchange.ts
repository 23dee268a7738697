/** Method, URL and headers of an HTTP request. */
export interface RequestHead {
  readonly method: string
  /** As sent: absolute, or path and query only. */
  readonly url: string
  /** Address of the client, where it is known. */
  readonly address?: string | undefined
  /** True if the client used TLS, directly or up to a trusted proxy. */
  readonly isSecure?: boolean
  header(name: string): string | undefined
}

/** An HTTP request, independent of the server that received it. */
export interface Exchange extends RequestHead {
  /** Reads the body; resolves to `undefined` if it exceeds `limit`. */
  body(limit: number): Promise<Uint8Array | undefined>
  /** Calls `listener` if the client disconnects before the reply is sent. */
  onDisconnect(listener: () => void): void
  /** Converts to a web-standard request, whose body cannot be read. */
  request(): Request
}

/** A reply whose body is complete. Parts may be cached encodings. */
export interface BufferedReply {
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  readonly parts: readonly (string | Uint8Array<ArrayBuffer>)[]
}

export type Reply = BufferedReply | Response

export const isBuffered = (reply: Reply): reply is BufferedReply => 'parts' in reply

export function toResponse({ status, headers, parts }: BufferedReply): Response {
  return new Response(parts.length === 1 ? parts[0] : new Blob([...parts]), { status, headers })
}

export function toExchange(request: Request): Exchange {
  return {
    method: request.method.toUpperCase(),
    url: request.url,
    header: (name) => request.headers.get(name) ?? undefined,
    body: (limit) => readBytes(request, limit),
    onDisconnect(listener) {
      if (request.signal.aborted) listener()
      else request.signal.addEventListener('abort', listener, { once: true })
    },
    request: () => request,
  }
}

async function readBytes(request: Request, limit: number): Promise<Uint8Array | undefined> {
  if (Number(request.headers.get('content-length')) > limit) return undefined
  if (request.body === null) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength
    if (size > limit) return undefined
    chunks.push(chunk)
  }
  return concat(chunks, size)
}

function concat(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const [only] = chunks
  if (only !== undefined && chunks.length === 1) return only
  const bytes = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.byteLength
  }
  return bytes
}
