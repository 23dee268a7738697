// These routes are for programs, so a browser must neither render nor embed a response.
const securityHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

export function reply(
  body: string | ReadableStream<Uint8Array>,
  init: { status?: number; headers?: Record<string, string> } = {},
): Response {
  return new Response(body, { status: init.status ?? 200, headers: { ...securityHeaders, ...init.headers } })
}

export function json(value: unknown, init: { status?: number; headers?: Record<string, string> } = {}): Response {
  return reply(JSON.stringify(value), { ...init, headers: { 'content-type': 'application/json', ...init.headers } })
}

export function refusal(status: number, message: string, headers: Record<string, string> = {}): Response {
  return json({ error: message }, { status, headers })
}

/** The reply of an MCP handler with the headers of the admin API. */
export function withSecurityHeaders(response: Response): Response {
  const headers = new Headers(response.headers)
  for (const [name, value] of Object.entries(securityHeaders)) headers.set(name, value)
  return new Response(response.body, { status: response.status, headers })
}
