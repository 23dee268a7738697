// Serves the loaded pages from a separate process, so that watching them does not slow the server down.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const script = `for (let i = 0; i < 20; i++) console.log('script says', i); const list = document.createElement('ul');
  for (let i = 0; i < 500; i++) { const item = document.createElement('li'); item.textContent = 'Item ' + i; list.append(item) }
  document.body.append(list)`
const scripts = Array.from({ length: 15 }, (_, i) => `<script src="/script-${i}.js"></script>`).join('')
const page = `<!doctype html><html lang="en"><title>Shop</title><body><h1>Shop</h1>${scripts}
  <script>for (let i = 0; i < 10; i++) fetch('/api/items/' + i).then((r) => r.json())</script></body></html>`

/** A medium-sized page with scripts, elements, requests and console messages. */
const server = createServer((request, response) => {
  const path = request.url ?? '/'
  const isScript = path.endsWith('.js')
  const isData = path.startsWith('/api/')
  response.setHeader('cache-control', 'no-store')
  response.setHeader('content-type', isScript ? 'text/javascript' : isData ? 'application/json' : 'text/html; charset=utf-8')
  response.end(isScript ? `{${script}}` : isData ? JSON.stringify({ path, items: [1, 2, 3] }) : page)
})
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
process.once('disconnect', () => process.exit())
