/** What stands before the body of an HTTP request. */
export interface RequestHead {
  readonly method: string
  /** The address as it was sent: whole, or its path and query alone. */
  readonly url: string
  header(name: string): string | undefined
}

/** An HTTP request as the edge reads it, whatever it arrived through. */
export interface Exchange extends RequestHead {
  /** The bytes of the body, or `undefined` when there are more than `limit`; nothing is kept of one that is larger. */
  body(limit: number): Promise<Uint8Array | undefined>
  /** Calls `left` when the client goes away before it is answered. */
  gone(left: () => void): void
  /** The request for code that wants a web-standard one. Its body is not there to be read. */
  request(): Request
}

/** An answer that is whole from the start: what most are. Parts of it may have been encoded long before. */
export interface WholeReply {
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  readonly parts: readonly (string | Uint8Array<ArrayBuffer>)[]
}

export type Reply = WholeReply | Response

export const isWhole = (reply: Reply): reply is WholeReply => 'parts' in reply

/** The same answer for code that wants a web-standard one. */
export function responseOf({ status, headers, parts }: WholeReply): Response {
  return new Response(parts.length === 1 ? parts[0] : new Blob([...parts]), { status, headers })
}

/** An exchange over a web-standard request. */
export function exchangeOf(request: Request): Exchange {
  return {
    method: request.method.toUpperCase(),
    url: request.url,
    header: (name) => request.headers.get(name) ?? undefined,
    body: (limit) => readBytes(request, limit),
    gone(left) {
      if (request.signal.aborted) left()
      else request.signal.addEventListener('abort', left, { once: true })
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
  return joined(chunks, size)
}

function joined(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const [only] = chunks
  if (only !== undefined && chunks.length === 1) return only
  const bytes = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.byteLength
  }
  return bytes
}
