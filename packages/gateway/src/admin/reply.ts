// What the routes beside MCP answer is for programs; a browser that is led here shows none of it.
const safe = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

/** An answer with the headers that all routes beside MCP have. */
export function reply(
  body: string | ReadableStream<Uint8Array>,
  init: { status?: number; headers?: Record<string, string> } = {},
): Response {
  return new Response(body, { status: init.status ?? 200, headers: { ...safe, ...init.headers } })
}

/** The same for data. */
export function json(value: unknown, init: { status?: number; headers?: Record<string, string> } = {}): Response {
  return reply(JSON.stringify(value), { ...init, headers: { 'content-type': 'application/json', ...init.headers } })
}

/** A refusal in words. */
export function refusal(status: number, message: string, headers: Record<string, string> = {}): Response {
  return json({ error: message }, { status, headers })
}
