import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface AuthorizationOptions {
  /** Lifetime of a token. */
  readonly lifeSeconds?: number
  /** Whether clients may register themselves. */
  readonly registers?: boolean
  /** Whether a client may be identified by the URL of a metadata document. */
  readonly readsDocuments?: boolean
  /** What the user does on the sign-in page. */
  readonly person?: 'agrees' | 'refuses' | 'is sent elsewhere'
  readonly refreshes?: boolean
}

/** An authorization server and a tool server that requires it, on loopback, until disposed of. */
export interface Guarded extends AsyncDisposable {
  /** The URL of the tool server. */
  readonly url: string
  readonly issuer: string
  /** All requests, in the form `POST /token refresh_token`. */
  readonly seen: readonly string[]
  readonly clients: ReadonlyMap<string, { redirect_uris: readonly string[] }>
  /** Invalidates all access tokens. */
  expireAll(): void
  /** Revokes all sign-ins. */
  endAll(): void
}

interface Code {
  readonly client: string
  readonly challenge: string
  readonly redirect: string
  readonly resource: string | null
}

export async function guarded(options: AuthorizationOptions = {}): Promise<Guarded> {
  const { lifeSeconds = 3_600, registers = true, readsDocuments = false, person = 'agrees', refreshes = true } = options
  const seen: string[] = []
  const clients = new Map<string, { redirect_uris: readonly string[] }>([['known', { redirect_uris: [] }]])
  const codes = new Map<string, Code>()
  const access = new Set<string>()
  const refresh = new Set<string>()
  let origin = ''
  const give = (response: ServerResponse): void => {
    const tokens = { access_token: randomUUID(), refresh_token: randomUUID() }
    access.add(tokens.access_token)
    refresh.add(tokens.refresh_token)
    const { access_token, refresh_token } = tokens
    json(response, 200, {
      access_token,
      token_type: 'Bearer',
      expires_in: lifeSeconds,
      ...(refreshes && { refresh_token }),
      scope: 'tools',
    })
  }
  const routes: {
    readonly [route: string]: (request: IncomingMessage, response: ServerResponse, url: URL) => Promise<void> | void
  } = {
    'GET /.well-known/oauth-protected-resource/mcp': (_, response) =>
      json(response, 200, { resource: `${origin}/mcp`, authorization_servers: [origin], scopes_supported: ['tools'] }),
    'GET /.well-known/oauth-authorization-server': (_, response) =>
      json(response, 200, {
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        revocation_endpoint: `${origin}/revoke`,
        ...(registers && { registration_endpoint: `${origin}/register` }),
        ...(readsDocuments && { client_id_metadata_document_supported: true }),
        response_types_supported: ['code'],
        grant_types_supported: ['authorization_code', 'refresh_token'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none'],
        authorization_response_iss_parameter_supported: true,
      }),
    'POST /register': async (request, response) => {
      const asked = JSON.parse(await text(request))
      const id = randomUUID()
      clients.set(id, asked)
      json(response, 201, { ...asked, client_id: id })
    },
    'GET /authorize': (_, response, url) => {
      const query = url.searchParams
      const client = query.get('client_id') ?? ''
      const redirect = query.get('redirect_uri') ?? ''
      const isKnown = clients.has(client) || (readsDocuments && client.startsWith('https://'))
      if (!isKnown || query.get('code_challenge_method') !== 'S256') return json(response, 400, { error: 'invalid_request' })
      const back = new URL(redirect)
      back.searchParams.set('state', person === 'is sent elsewhere' ? 'made-up' : (query.get('state') ?? ''))
      back.searchParams.set('iss', origin)
      if (person === 'refuses') back.searchParams.set('error', 'access_denied')
      else {
        const code = randomUUID()
        codes.set(code, { client, redirect, challenge: query.get('code_challenge') ?? '', resource: query.get('resource') })
        back.searchParams.set('code', code)
      }
      response.writeHead(302, { location: back.href }).end()
    },
    'POST /token': async (request, response) => {
      const asked = new URLSearchParams(await text(request))
      seen.push(`grant ${asked.get('grant_type')}`)
      if (asked.get('grant_type') === 'refresh_token') {
        const old = asked.get('refresh_token') ?? ''
        // Each code is valid once.
        if (!refresh.delete(old)) return json(response, 400, { error: 'invalid_grant' })
        return give(response)
      }
      const code = codes.get(asked.get('code') ?? '')
      codes.delete(asked.get('code') ?? '')
      const challenge = createHash('sha256')
        .update(asked.get('code_verifier') ?? '')
        .digest('base64url')
      const isRight = code !== undefined && code.challenge === challenge && code.redirect === asked.get('redirect_uri')
      if (!isRight || code.client !== asked.get('client_id') || code.resource !== `${origin}/mcp`)
        return json(response, 400, { error: 'invalid_grant' })
      give(response)
    },
    'POST /revoke': async (request, response) => {
      refresh.delete(new URLSearchParams(await text(request)).get('token') ?? '')
      json(response, 200, {})
    },
    'POST /mcp': async (request, response) => {
      const token = request.headers.authorization?.replace(/^Bearer /u, '') ?? ''
      if (!access.has(token)) {
        const where = `${origin}/.well-known/oauth-protected-resource/mcp`
        response.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${where}", scope="tools"` }).end()
        return
      }
      answer(response, JSON.parse(await text(request)))
    },
  }
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', origin)
    const route = `${request.method} ${url.pathname}`
    seen.push(route)
    const handle = Object.hasOwn(routes, route) ? routes[route] : undefined
    if (handle === undefined) json(response, 404, {})
    else void handle(request, response, url)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: `${origin}/mcp`,
    issuer: origin,
    seen,
    clients,
    expireAll: () => access.clear(),
    endAll: () => {
      access.clear()
      refresh.clear()
    },
    [Symbol.asyncDispose]: () => closed(server),
  }
}

function answer(response: ServerResponse, { id, method }: { id?: number; method: string }): void {
  if (id === undefined) {
    response.writeHead(202).end()
    return
  }
  const results: { readonly [method: string]: unknown } = {
    initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'vault', version: '1.0.0' } },
    'tools/list': { tools: [{ name: 'open', inputSchema: { type: 'object' } }] },
    'tools/call': { content: [{ type: 'text', text: 'opened' }] },
  }
  const result = results[method]
  json(response, 200, {
    jsonrpc: '2.0',
    id,
    ...(result === undefined ? { error: { code: -32601, message: 'unknown' } } : { result }),
  })
}

function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

async function closed(server: Server): Promise<void> {
  const end = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeAllConnections()
  await end
}
