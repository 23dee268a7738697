import { mkdir, writeFile } from 'node:fs/promises'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { needs } from '../../../test/needs.ts'
import { authority } from '../../gateway/test/faults/certificates.ts'
import { home } from './command.ts'

// Each test starts several processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 300_000 })

const { isMissing, note } = needs('openssl')
const preload = new URL('servers/public-names.mjs', import.meta.url).href

/** Where the metadata of a server may lead; each makes a URL from the port of the victim. */
const forms: { readonly [name: string]: (port: number) => string } = {
  loopback: (port) => `http://127.0.0.1:${port}`,
  'a name': (port) => `https://inside.example:${port}`,
  localhost: (port) => `http://localhost:${port}`,
  'all interfaces': (port) => `http://0.0.0.0:${port}`,
  'a mapped address': (port) => `https://[::ffff:127.0.0.1]:${port}`,
  'a decimal address': (port) => `https://2130706433:${port}`,
  'an octal address': (port) => `https://0177.0.0.1:${port}`,
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve))
  return (server.address() as AddressInfo).port
}

/** A server that is public for the command, with metadata by path, and a service of this machine that counts its connections. */
async function publicServer(folder: string) {
  const tls = await (await authority(folder)).certify('DNS:mcp.example,DNS:idp.example')
  const metadata = new Map<string, object | string>()
  const challenges = new Map<string, string>()
  const seen: string[] = []
  const server = createHttpsServer(tls, (request, response) => {
    const path = request.url ?? ''
    seen.push(`${request.method} ${request.headers.host?.split(':')[0]} ${path}`)
    const value = metadata.get(path)
    if (path.startsWith('/mcp')) {
      const place = challenges.get(path)
      response.writeHead(401, { 'www-authenticate': `Bearer${place === undefined ? '' : ` resource_metadata="${place}"`}` }).end()
    } else if (value === undefined) response.writeHead(404).end()
    else if (typeof value === 'string') response.writeHead(302, { location: value }).end()
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
  })
  let connections = 0
  const victim = createServer((socket) => {
    connections++
    socket.destroy()
  })
  const [port, victimPort] = await Promise.all([listening(server), listening(victim)])
  return {
    metadata,
    challenges,
    seen,
    port,
    victimPort,
    origin: `https://mcp.example:${port}`,
    connections: () => connections,
    env: {
      NODE_EXTRA_CA_CERTS: join(folder, 'authority.pem'),
      NODE_OPTIONS: `--import=${preload}`,
      PUBLIC_NAMES: JSON.stringify({
        'mcp.example': '93.184.216.34',
        'idp.example': '93.184.216.34',
        'inside.example': '127.0.0.1',
      }),
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      victim.close()
    },
  }
}

const endpoints = (issuer: string, at: string) => ({
  issuer,
  authorization_endpoint: `${at}/authorize`,
  token_endpoint: `${at}/token`,
  registration_endpoint: `${at}/register`,
  response_types_supported: ['code'],
  code_challenge_methods_supported: ['S256'],
})

describe.skipIf(isMissing)(`the sign-in to a public server${note}`, () => {
  test('AT-R16-1: sends no request into this machine, whatever form of address the metadata contains', async () => {
    await using at = await home()
    await using server = await publicServer(at.folder)
    const { metadata, challenges, origin, victimPort } = server
    const cases = Object.values(forms).flatMap((form, index) => {
      const inside = form(victimPort)
      const [challenge, authorization, registration] = [`/mcp/${index}a`, `/mcp/${index}b`, `/mcp/${index}c`]
      challenges.set(challenge, `${inside}/resource`)
      metadata.set(`/.well-known/oauth-protected-resource${authorization}`, {
        resource: `${origin}${authorization}`,
        authorization_servers: [inside],
      })
      metadata.set(`/.well-known/oauth-protected-resource${registration}`, {
        resource: `${origin}${registration}`,
        authorization_servers: [`https://idp.example:${server.port}/${index}`],
      })
      const issuer = `https://idp.example:${server.port}/${index}`
      metadata.set(`/.well-known/oauth-authorization-server/${index}`, endpoints(issuer, inside))
      // One kind of metadata for each form of address, to start fewer processes.
      return [[challenge, authorization, registration][index % 3] ?? challenge]
    })
    const results = await Promise.all(
      cases.map((path) => at.unfold(['login', `${origin}${path}`, '--no-browser', '--timeout', '60'], { env: server.env })),
    )
    expect(server.connections()).toBe(0)
    for (const { code, stderr } of results) {
      expect(code).toBe(3)
      expect(stderr).toMatch(/No request was sent|is not encrypted/u)
    }
    expect(server.seen.filter((line) => line.includes('idp.example')).length).toBeGreaterThan(0)
  })

  test('AT-R16-2: does not follow a redirect into this machine, and does not open a page there', async () => {
    await using at = await home()
    await using server = await publicServer(at.folder)
    const { metadata, origin, victimPort } = server
    metadata.set('/.well-known/oauth-protected-resource/mcp/redirect', `http://127.0.0.1:${victimPort}/resource`)
    const issuer = `https://idp.example:${server.port}`
    metadata.set('/.well-known/oauth-protected-resource/mcp/page', {
      resource: `${origin}/mcp/page`,
      authorization_servers: [issuer],
    })
    metadata.set('/.well-known/oauth-authorization-server', {
      ...endpoints(issuer, issuer),
      authorization_endpoint: `http://127.0.0.1:${victimPort}/delete-everything`,
    })
    const [redirect, page] = await Promise.all(
      ['redirect', 'page'].map((name) =>
        at.unfold(['login', `${origin}/mcp/${name}`, '--no-browser', '--timeout', '60', '--client-id', 'known'], {
          env: server.env,
        }),
      ),
    )
    expect(server.connections()).toBe(0)
    expect(redirect).toMatchObject({ code: 3 })
    expect(page).toMatchObject({ code: 3, stderr: expect.stringContaining('The authorization URL was not opened') })
    expect(page?.stderr).not.toContain('Sign in at')
  })

  test('AT-R16-3: refreshes and revokes no token in this machine, even if its stored metadata says so', async () => {
    await using at = await home()
    await using server = await publicServer(at.folder)
    const inside = `http://127.0.0.1:${server.victimPort}`
    const grant = {
      id: 'one',
      issuer: inside,
      resource: `${server.origin}/mcp`,
      redirect: 'http://127.0.0.1:1/callback',
      authorizationServer: inside,
      client: { client_id: 'known' },
      metadata: { ...endpoints(inside, inside), revocation_endpoint: `${inside}/revoke` },
      tokens: { access: 'access-token-1', refresh: 'refresh-token-1', expiresAt: 1 },
    }
    const folder = join(at.folder, 'unfold')
    await mkdir(folder, { mode: 0o700 })
    const text = JSON.stringify({ format: 'unfold-tokens', version: 1, grants: [grant] })
    await writeFile(join(folder, 'tokens.json'), text, { mode: 0o600 })
    const list = await at.unfold(['list', grant.resource], { env: server.env })
    expect(list.code).not.toBe(0)
    const logout = await at.unfold(['logout', grant.resource, '--json'], { env: server.env })
    expect(JSON.parse(logout.stdout)).toMatchObject({ forgotten: 1, revoked: 0 })
    expect(server.connections()).toBe(0)
  })
})
