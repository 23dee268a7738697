/** An HTTP request as the edge reads it, whatever it arrived through. */
export interface Exchange {
  readonly method: string
  readonly url: string
  header(name: string): string | undefined
  /** The body as text, or `undefined` when it is larger than `limit` bytes; nothing is kept of one that is. */
  body(limit: number): Promise<string | undefined>
  /** The request for code that wants a web-standard one. Its body is not there to be read. */
  request(): Request
}

/** An answer that is text from the start: what most are. */
export interface TextReply {
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  readonly text: string
}

export type Reply = TextReply | Response

export const isText = (reply: Reply): reply is TextReply => 'text' in reply && typeof reply.text === 'string'

/** An exchange over a web-standard request. */
export function exchangeOf(request: Request): Exchange {
  return {
    method: request.method.toUpperCase(),
    url: request.url,
    header: (name) => request.headers.get(name) ?? undefined,
    body: (limit) => readText(request, limit),
    request: () => request,
  }
}

async function readText(request: Request, limit: number): Promise<string | undefined> {
  if (Number(request.headers.get('content-length')) > limit) return undefined
  if (request.body === null) return ''
  const decoder = new TextDecoder()
  let text = ''
  let size = 0
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength
    if (size > limit) return undefined
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}
