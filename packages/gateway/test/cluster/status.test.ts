import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { createServer } from 'node:tls'
import { describe, expect, test } from 'vitest'
import { needs } from '../../../../test/needs.ts'
import { redisServer, startRedis } from '../../../../test/redis.ts'
import { until } from '../../../client/test/processes.ts'
import { authority, type Certified } from '../faults/certificates.ts'
import { commanded } from '../faults/command.ts'
import { gatewayFolder } from '../gateway-file.ts'

const openssl = needs('openssl')

const secret = 'a secret that all replicas of this test share'

describe.skipIf(redisServer.isMissing)(`unfold status of a cluster${redisServer.note}`, () => {
  test('AT-M07-1 (M07): shows the replicas and Redis, and nothing secret', async () => {
    await using redis = await startRedis('--requirepass', 'password-of-redis')
    const url = `redis://:password-of-redis@127.0.0.1:${redis.port}`
    const env = { UNFOLD_CLUSTER_URL: url, UNFOLD_CLUSTER_SECRET: secret, UNFOLD_CLUSTER_PREFIX: 'status:' }
    await using first = await commanded({}, { env })
    await using second = await commanded({}, { env })
    const text = async (): Promise<string> => (await first.at.unfold(['status'])).stdout
    await until(async () => (await text()).includes('2 replicas, Redis ok'), 'both replicas are shown')
    const shown = await text()
    expect(shown).toContain('(this one)')
    expect(shown).toContain(second.url)
    expect(shown).not.toMatch(/password-of-redis|a secret that/u)
    const { cluster } = await second.status()
    expect(cluster?.replicas.map(({ address }) => address).toSorted()).toEqual([first.url, second.url].toSorted())
    await redis.stop()
    await until(async () => /Redis: [\s\S]*degraded: cluster/u.test(await text()), 'the problem is shown')
    expect(first.stderr()).toContain('Redis does not work')
    expect(first.stderr()).not.toMatch(/password-of-redis|a secret that/u)
  })

  test('unfold trust does not read local decisions of a cluster', async () => {
    await using gateway = await commanded({ store: { kind: 'memory' } }, { env: { UNFOLD_CLUSTER_SECRET: secret } })
    const { stdout, stderr } = await gateway.at.unfold(['trust', 'export'], { env: { UNFOLD_CLUSTER_URL: 'redis://x' } })
    expect(`${stdout}${stderr}`).toContain('the decisions are in Redis')
    expect((await gateway.at.unfold(['status'])).stdout).toContain('without Redis')
  })

  test.skipIf(openssl.isMissing)(`TLS is checked against the authorities of NODE_EXTRA_CA_CERTS${openssl.note}`, async () => {
    await using redis = await startRedis()
    await using folder = await gatewayFolder()
    const issuer = await authority(folder.path)
    await using network = await encrypted(redis.port, await issuer.certify('DNS:localhost'))
    const advertise = 'http://replica.example:7420'
    const config = { cluster: { url: `rediss://localhost:${network.port}`, secret, advertise } }
    await using trusting = await commanded(config, { env: { NODE_EXTRA_CA_CERTS: issuer.file } })
    const { cluster } = await trusting.status()
    expect(cluster?.redis).toBe('ok')
    expect(cluster?.replicas.map(({ address }) => address)).toEqual([advertise])
    await using other = await commanded(config)
    expect((await other.status()).cluster?.redis).toMatch(/certificate/u)
  })
})

/** A port with TLS that leads to another one. */
async function encrypted(port: number, certificate: Certified) {
  const sockets = new Set<Socket>()
  const server = createServer(certificate, (socket) => {
    const far = connect(port, '127.0.0.1')
    for (const each of [socket, far]) {
      sockets.add(each)
      each.on('error', () => undefined)
      each.on('close', () => sockets.delete(each))
    }
    socket.pipe(far).pipe(socket)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
