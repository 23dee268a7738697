import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { HttpConnection } from '../../bench/src/gateway/wires/http.ts'

test('a benchmark client sends a request again if the server closed the idle connection', async () => {
  const server = createServer({ keepAlive: true }, (request, response) => {
    request.resume()
    request.on('end', () => {
      response.end('{}')
      // Closes after the response, without announcing it in a header.
      response.on('finish', () => request.socket.end())
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const connection = new HttpConnection(new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`))
  for (let count = 0; count < 200; count++) expect((await connection.post('/', '', '{}')).status).toBe(200)
  connection.close()
  server.close()
})
