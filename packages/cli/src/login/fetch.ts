import type { FetchLike } from '@modelcontextprotocol/client'
import { timeLimit } from '../base/time-limit.ts'

const requestTimeoutMs = 30_000
const maxBytes = 1_000_000

/** `fetch` with a timeout and a size limit, for authorization servers. */
export function boundedFetch(signal?: AbortSignal): FetchLike {
  return async (url, init) => {
    using limit = timeLimit(requestTimeoutMs, [signal, init?.signal])
    // POST bodies contain secrets and must not be redirected.
    const redirect = init?.redirect ?? (init?.method === 'POST' ? 'error' : 'follow')
    const response = await fetch(url, { ...init, redirect, signal: limit.signal })
    const { status, statusText, headers, body } = response
    if (body === null) return response
    return new Response(await textOf(body, String(url)), { status, statusText, headers: plain(headers) })
  }
}

async function textOf(body: ReadableStream<Uint8Array>, from: string): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > maxBytes) throw new Error(`The response of ${from} exceeds ${maxBytes} bytes.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

// The body is already decompressed.
function plain(headers: Headers): Headers {
  const copy = new Headers(headers)
  copy.delete('content-encoding')
  copy.delete('content-length')
  return copy
}
