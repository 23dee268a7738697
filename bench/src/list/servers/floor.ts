// The floor: a node:http server that reads a request and sends fixed bytes.
import { createServer } from 'node:http'
import { serveAsChild, type ToChild } from './child.ts'

const answers = new Map<string, Buffer>()

process.on('message', (message: ToChild) => {
  if (typeof message !== 'object') return
  for (const [path, text] of Object.entries(message.answers)) answers.set(path, Buffer.from(text))
})

serveAsChild(
  createServer((request, response) => {
    request.resume()
    request.on('end', () => {
      const bytes = answers.get(request.url ?? '') ?? Buffer.alloc(0)
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length })
      response.end(bytes)
    })
  }),
)
