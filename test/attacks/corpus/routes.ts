import { head } from '../raw.ts'

/** An unauthorized or invalid request to a gateway route other than MCP. */
export interface InvalidRequest {
  readonly id: `AT-${string}`
  readonly what: string
  readonly bytes: string
  /** Expected status; 400 for bytes that are not valid HTTP. */
  readonly status: number
}

const host = '127.0.0.1'

const route = (
  id: InvalidRequest['id'],
  status: number,
  request: string,
  headers: { readonly [name: string]: string } = {},
): InvalidRequest => {
  const [method = 'GET', path = '/'] = request.split(' ')
  return {
    id,
    what: `${request.slice(0, 60)} with ${JSON.stringify(headers).slice(0, 80)}`,
    bytes: head(method, path, { host, connection: 'close', ...headers }),
    status,
  }
}

/** Sections B, F and G for gateway routes other than MCP. */
export const invalidRequests: readonly InvalidRequest[] = [
  route('AT-F77-none', 401, 'GET /api/status'),
  route('AT-F77-empty', 401, 'GET /api/status', { authorization: 'Bearer ' }),
  route('AT-F77-basic', 401, 'GET /api/status', { authorization: 'Basic YWRtaW46YWRtaW4=' }),
  route('AT-F77-default', 401, 'GET /api/status', { authorization: 'Bearer admin' }),
  route('AT-F77-undefined', 401, 'GET /api/status', { authorization: 'Bearer undefined' }),
  route('AT-F77-address', 401, 'GET /api/status?token=admin&access_token=admin'),
  route('AT-F77-cookie', 401, 'GET /api/status', { cookie: 'token=admin' }),
  route('AT-F77-long', 401, 'GET /api/status', { authorization: `Bearer ${'x'.repeat(10_000)}` }),
  route('AT-F77-stream', 401, 'GET /api/events'),
  route('AT-F77-root', 401, 'GET /api'),
  route('AT-F77-deep', 401, `GET /api/${'a/'.repeat(2_000)}`),
  route('AT-G83-reload', 401, 'POST /api/reload', { 'content-length': '0' }),
  route('AT-G83-restart', 401, 'POST /api/upstreams/target/restart', { 'content-length': '0' }),
  route('AT-F77-numbers', 401, 'GET /metrics'),
  route('AT-F63-none', 401, 'GET /mcp', { accept: 'text/event-stream' }),
  route('AT-F63-jwt', 401, 'GET /mcp', { accept: 'text/event-stream', authorization: 'Bearer eyJhbGciOiJub25lIn0.e30.' }),
  route('AT-F63-two', 401, 'GET /mcp', { accept: 'text/event-stream', authorization: 'Bearer a, Bearer b' }),
  route('AT-F63-profile', 401, 'GET /mcp/nosuch', { accept: 'text/event-stream' }),
  route('AT-F75-host', 403, 'GET /api/status', { host: 'evil.example' }),
  route('AT-F75-suffix', 403, 'GET /healthz', { host: '127.0.0.1.evil.example' }),
  route('AT-F75-origin', 403, 'GET /api/events', { origin: 'https://evil.example' }),
  route('AT-F75-null', 403, 'POST /api/reload', { origin: 'null', 'content-length': '0' }),
  route('AT-F76-preflight', 403, 'OPTIONS /api/status', {
    origin: 'https://evil.example',
    'access-control-request-method': 'GET',
  }),
  route('AT-F76-local', 401, 'OPTIONS /api/status', { origin: 'http://localhost:1', 'access-control-request-method': 'GET' }),
  route('AT-F76-mcp', 405, 'OPTIONS /mcp', { origin: 'http://localhost:1', 'access-control-request-method': 'POST' }),
  route('AT-T13-up', 404, 'GET /mcp/../admin'),
  route('AT-T13-encoded', 404, 'GET /mcp/%2e%2e/admin'),
  route('AT-T13-around', 401, 'GET /healthz/../api/status'),
  route('AT-T13-slashes', 404, 'GET //api/status'),
  route('AT-T13-case', 404, 'GET /API/status'),
  route('AT-T13-file', 404, 'GET /..%2f..%2f..%2fetc/passwd'),
  route('AT-T13-nul', 404, 'GET /healthz%00'),
  route('AT-T13-proto', 404, 'GET /__proto__'),
  route('AT-T13-long', 431, `GET /${'a'.repeat(100_000)}`),
  route('AT-T13-trace', 405, 'TRACE /api/status'),
  route('AT-T13-delete', 405, 'DELETE /healthz'),
  route('AT-F65-smuggled', 400, 'POST /mcp', { 'content-length': '5', 'transfer-encoding': 'chunked' }),
  route('AT-F65-forwarded', 401, 'GET /api/status', {
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-host': 'localhost',
    'x-original-url': '/healthz',
  }),
]
