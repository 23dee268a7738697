import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer, type ServerOptions } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { connect } from '@unfold-mcp/client'
import { createHandler, defineToolbox, toNodeHandler } from '@unfold-mcp/server'
import { expect, test } from 'vitest'
import { needs } from '../../../../test/needs.ts'
import { until } from '../../../client/test/processes.ts'
import { gatewayFolder } from '../gateway-file.ts'
import { authority } from './certificates.ts'
import { commanded } from './command.ts'

/** A server with or without TLS, and the requests that reached it. */
async function listening(
  options: ServerOptions | undefined,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
) {
  let connections = 0
  const requests: string[] = []
  const respond = (request: IncomingMessage, response: ServerResponse): void => {
    requests.push(JSON.stringify(request.headers))
    answer(request, response)
  }
  const server = options === undefined ? createServer(respond) : createSecureServer(options, respond)
  server.on('connection', () => connections++)
  server.on('tlsClientError', () => undefined)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    requests,
    /** Continues with another certificate. */
    rotate(next: ServerOptions): void {
      if ('setSecureContext' in server) server.setSecureContext(next)
      server.closeAllConnections()
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const openssl = needs('openssl')
test.skipIf(openssl.isMissing)(
  `AT-H102: a server with an untrusted certificate is rejected with the reason, before anything is sent, and retried with a delay${openssl.note}`,
  async () => {
    await using folder = await gatewayFolder()
    const ours = await authority(folder.path)
    await using handler = createHandler(
      defineToolbox({ name: 'safe', version: '1' }).tool('ping', {}, () => 'pong'),
      {
        allowedHosts: 'any',
      },
    )
    const answer = toNodeHandler(handler)
    const good = await ours.certify('DNS:localhost')
    await using trusted = await listening(good, answer)
    await using expired = await listening(await ours.certify('DNS:localhost', -1), answer)
    await using foreign = await listening(await ours.certify('DNS:other.example'), answer)
    await using self = await listening(await ours.selfSigned('DNS:localhost'), answer)
    await using nameless = await listening({ ...good, SNICallback: (_name, done) => done(new Error('not mine')) }, answer)
    await using plain = await listening(undefined, answer)
    const all = { trusted, expired, foreign, self, nameless, plain }
    const mcpServers = Object.fromEntries(
      Object.entries(all).map(([name, { port }]) => [
        name,
        { url: `https://localhost:${port}/mcp`, headers: { authorization: 'Bearer only-for-the-right-one' } },
      ]),
    )
    const errors = {
      expired: /certificate has expired.*renew/u,
      foreign: /certificate is for DNS:other\.example, not for the host name of the URL/u,
      self: /certificate is self-signed.*NODE_EXTRA_CA_CERTS/u,
      nameless: /closed the connection during the TLS handshake.*SNI/u,
      plain: /does not speak TLS/u,
    } as const

    await using gateway = await commanded({ mcpServers }, { env: { NODE_EXTRA_CA_CERTS: ours.file } })
    await using client = await connect({ url: gateway.url })
    await until(async () => (await client.refresh()).some(({ name }) => name === 'trusted__ping'), 'the trusted server is ready')
    expect(await client.call('trusted__ping')).toMatchObject({ content: [{ text: 'pong' }] })
    const failing = async () =>
      (await gateway.status()).upstreams.filter(({ name, lastError }) => name in errors && lastError !== undefined)
    await until(async () => (await failing()).length === Object.keys(errors).length, 'all others are rejected')
    const upstreams = await failing()
    for (const [name, message] of Object.entries(errors)) {
      const upstream = upstreams.find((each) => each.name === name)
      expect(upstream?.lastError).toMatch(message)
      expect(upstream?.lastError).toContain('nothing was sent')
    }
    for (const name of ['expired', 'foreign', 'self'] as const) {
      expect(upstreams.find((each) => each.name === name)).toMatchObject({ state: 'failed' })
      expect(upstreams.find((each) => each.name === name)?.nextRetryInMs).toBeGreaterThan(10_000)
      // One request and, where applicable, one with the older transport; no retries.
      expect(all[name].connections()).toBeLessThanOrEqual(2)
    }
    for (const { requests } of [expired, foreign, self, nameless]) expect(requests).toEqual([])
    expect((await gateway.at.unfold(['status'])).stdout.replaceAll(/\s+/gu, ' ')).toContain('its certificate has expired')

    // The same authority is unknown to a gateway that was not configured with it.
    await using stranger = await commanded({ mcpServers: { trusted: mcpServers.trusted } })
    await until(async () => (await stranger.status()).upstreams[0]?.state === 'failed', 'it is rejected')
    const [refused] = (await stranger.status()).upstreams
    expect(refused?.lastError).toMatch(/signed by an unknown authority.*NODE_EXTRA_CA_CERTS/u)
  },
)

test.skipIf(openssl.isMissing)(
  `AT-S01-3 (T13): the TLS key of a server is recorded; a rotated key is reported once, and holds nothing${openssl.note}`,
  async () => {
    await using folder = await gatewayFolder()
    const ours = await authority(folder.path)
    await using handler = createHandler(
      defineToolbox({ name: 'safe', version: '1' }).tool('ping', {}, () => 'pong'),
      { allowedHosts: 'any' },
    )
    await using remote = await listening(await ours.certify('DNS:localhost'), toNodeHandler(handler))
    const mcpServers = { safe: { url: `https://localhost:${remote.port}/mcp` } }
    const config = { mcpServers, trust: 'pin', exposure: 'everything', audit: { path: 'audit.jsonl' } }
    await using gateway = await commanded(config, { env: { NODE_EXTRA_CA_CERTS: ours.file } })
    await using client = await connect({ url: gateway.url })
    const reports = (): number => gateway.stderr().split('is not what ran before: other TLS key').length - 1
    // The gateway reads the key on a connection of its own, which closes without a request.
    const reconnects = async (): Promise<void> => {
      const [connections, requests] = [remote.connections(), remote.requests.length]
      expect((await gateway.at.unfold(['restart', 'safe'])).code).toBe(0)
      await until(() => remote.connections() > connections + 1 && remote.requests.length > requests, 'it is connected again')
      await until(async () => (await client.refresh()).some(({ name }) => name === 'safe__ping'), 'its tool is served')
    }
    await until(async () => (await client.refresh()).some(({ name }) => name === 'safe__ping'), 'the first list is served')
    await reconnects()
    expect(reports()).toBe(0)
    remote.rotate(await ours.certify('DNS:localhost'))
    await reconnects()
    await until(() => reports() === 1, 'the other key is reported')
    await reconnects()
    expect(reports()).toBe(1)
    expect(await client.call('safe__ping')).toMatchObject({ content: [{ text: 'pong' }] })
    expect((await gateway.status()).upstreams).toMatchObject([{ name: 'safe', held: 0, blocked: 0 }])
    const audit = await readFile(join(gateway.at.folder, 'audit.jsonl'), 'utf8')
    expect(audit.match(/"outcome":"run"/gu)).toHaveLength(1)
  },
)
