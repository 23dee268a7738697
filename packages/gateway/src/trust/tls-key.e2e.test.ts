import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:tls'
import { expect, test } from 'vitest'
import { needs } from '../../../../test/needs.ts'
import { authority } from '../../test/faults/certificates.ts'
import { gatewayFolder } from '../../test/gateway-file.ts'
import { tlsKeyOf } from './tls-key.ts'

const openssl = needs('openssl')

test.skipIf(openssl.isMissing)(`AT-S01-2: the key of a server is known, and a rotated one differs${openssl.note}`, async () => {
  await using folder = await gatewayFolder()
  const ours = await authority(folder.path)
  const keyAt = async (port: number): Promise<string | undefined> => tlsKeyOf(`https://localhost:${port}/mcp`)
  const keys: (string | undefined)[] = []
  for (let rotation = 0; rotation < 2; rotation++) {
    const server = createServer(await ours.selfSigned('DNS:localhost')).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    keys.push(await keyAt(port), await keyAt(port))
    server.close()
    await once(server, 'close')
  }
  const [first, again, rotated] = keys
  expect(first).toMatch(/^[0-9a-f]{64}$/u)
  expect(again).toBe(first)
  expect(rotated).not.toBe(first)
  expect(await tlsKeyOf('http://localhost/mcp')).toBeUndefined()
  expect(await tlsKeyOf('https://localhost:1/mcp')).toBeUndefined()
})
