import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { AllowedAddresses } from './allowed-addresses.ts'
import { boundedFetch } from './fetch.ts'

test('POST requests are not redirected; GET requests are', async () => {
  const seen: string[] = []
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`)
    if (request.url === '/moved') response.writeHead(307, { location: '/here' }).end()
    else response.end('found')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const moved = `http://127.0.0.1:${(server.address() as AddressInfo).port}/moved`
  const fetchFn = boundedFetch({ addresses: new AllowedAddresses(moved) })
  expect(await (await fetchFn(moved)).text()).toBe('found')
  const post = fetchFn(moved, { method: 'POST', body: 'refresh_token=x' })
  await expect(post).rejects.toThrow('redirects a POST request, which is not allowed')
  expect(seen).toEqual(['GET /moved', 'GET /here', 'POST /moved'])
})
