import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'
import {
  fetches,
  flood,
  framed,
  frames,
  front,
  frontScript,
  hostile,
  navigates,
  nodes,
  ordered,
  second,
  secrets,
} from './site/pages.ts'

// Pages
//   /                 the front page: one log line and one GET /api/items?limit=10 when it loads; a control per thing it can do
//                     (data-testid: log, throw, reject, block, shift, push, load, load-one, add, fail, missing, private,
//                     redirected, socket, hang-up, to-second, order), a form, and accessibility faults
//   /busy             the same page, which does all of it by itself when it loads
//   /second /ordered  plain pages; /ordered also takes the form's POST
//   /flood?lines=&burst=&pause=   writes to the console; without an end when lines=0
//   /nodes?n=         has n elements .node
//   /navigates?ms=&to=     goes elsewhere by itself
//   /fetches?path=    fetches a path and says in its title `Got <bytes>` or `Failed: …`
//   /secrets          sends secrets in a header, a query, a body, a cookie and to the console; title `Secrets are sent`
//   /frames /framed   a page with a frame of its own origin and one of another
//   /hostile          breaks built-ins and forges events
//   /strict           a page under a content security policy that allows nothing
// Data
//   GET /api/items?limit=   { items: [{ id, name, price, addedAt, tags }], total }
//   GET /api/items/:id      one of them; 404 when there is none
//   POST /api/items         201 with what was sent and an id; sets a cookie
//   GET /api/private        200 with a Bearer token, else 401; sets a cookie
//   GET /api/fail           500; GET /api/moved 302 to /api/items
//   GET /slow?ms=           answers late; GET /never never does
//   GET /huge?mb=&type=     streams that many megabytes
//   WS  /ws                 sends back what it gets; `close` makes it close with 4000, `much` answers 100 KB

/** A request received by the site. */
export interface SiteRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** A small test site on loopback only. */
export interface Site extends AsyncDisposable {
  /** For example `http://127.0.0.1:4000`, without a trailing slash. */
  readonly url: string
  /** The received requests, oldest first. */
  readonly requests: readonly SiteRequest[]
  close(): Promise<void>
}

interface Answer {
  readonly status?: number
  readonly type?: string
  readonly headers?: Record<string, string>
  readonly body: string
}

interface Asked {
  readonly method: string
  readonly url: URL
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

const items = ['Button', 'Needle', 'Thread', 'Thimble'].map((name, i) => ({
  id: i + 1,
  name,
  price: (i + 1) * 1.25,
  addedAt: `2026-01-0${i + 1}T10:00:00.000Z`,
  tags: ['small', 'useful'].slice(0, (i % 2) + 1),
}))
const picture =
  '<svg xmlns="http://www.w3.org/2000/svg" width="120" height="60"><rect width="120" height="60" fill="teal"/></svg>'
const maxSamples = 10_000

/** Starts the site on a free port. */
export async function startSite(): Promise<Site> {
  const requests: SiteRequest[] = []
  const server = createServer((request, response) => {
    void answer(request, response, requests).catch((error: unknown) =>
      response.destroy(error instanceof Error ? error : undefined),
    )
  })
  const sockets = new WebSocketServer({ noServer: true, maxPayload: 1024 * 1024 })
  server.on('upgrade', (request, socket, head) => {
    if (request.url !== '/ws') {
      socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n')
      return
    }
    sockets.handleUpgrade(request, socket, head, (connection) => {
      connection.on('error', () => undefined)
      connection.on('message', (data, isBinary) => {
        const text = data.toString()
        if (text === 'close') connection.close(4000, 'as you wish')
        else connection.send(text === 'much' ? Buffer.alloc(100 * 1024, 'm') : data, { binary: isBinary })
      })
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => {
    closing ??= new Promise<void>((resolve) => {
      for (const connection of sockets.clients) connection.terminate()
      sockets.close()
      server.close(() => resolve())
      server.closeAllConnections()
    })
    return closing
  }
  return { url: `http://127.0.0.1:${port}`, requests, close, [Symbol.asyncDispose]: close }
}

async function answer(request: IncomingMessage, response: ServerResponse, requests: SiteRequest[]): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const body = Buffer.concat(chunks).toString()
  const { method = 'GET', url: path = '/', headers } = request
  if (requests.length < maxSamples) requests.push({ method, path, headers, body })
  const url = new URL(path, `http://${headers.host ?? '127.0.0.1'}`)
  if (url.pathname === '/never') return
  if (url.pathname === '/huge') return await stream(response, url)
  const {
    status = 200,
    type = 'text/html; charset=utf-8',
    headers: more = {},
    body: text,
  } = await answerTo({ method, url, headers, body })
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store', ...more })
  response.end(text)
}

async function answerTo(asked: Asked): Promise<Answer> {
  const { method, url, headers, body } = asked
  const { pathname, searchParams } = url
  const number = (name: string, otherwise: number): number => Number(searchParams.get(name) ?? otherwise)
  switch (pathname) {
    case '/':
    case '/busy':
    case '/pushed':
      return { body: front }
    case '/front.js':
      return { type: 'text/javascript', body: frontScript }
    case '/picture.svg':
      return { type: 'image/svg+xml', body: picture }
    case '/favicon.ico':
      return { status: 204, body: '' }
    case '/second':
      return { body: second }
    case '/ordered':
      return { body: ordered }
    case '/flood':
      return { body: flood(number('lines', 100_000), number('burst', 1_000), number('pause', 0)) }
    case '/nodes':
      return { body: nodes(number('n', 100_000)) }
    case '/navigates':
      return { body: navigates(number('ms', 100), searchParams.get('to') ?? '/second') }
    case '/fetches':
      return { body: fetches(searchParams.get('path') ?? '/api/items') }
    case '/secrets':
      return { body: secrets, headers: { 'set-cookie': 'visit=cookie-of-the-site; Path=/' } }
    case '/frames':
      return { body: frames(`http://localhost:${url.port}`) }
    case '/framed':
      return { body: framed }
    case '/hostile':
      return { body: hostile }
    case '/strict':
      return {
        body: second,
        headers: { 'content-security-policy': "default-src 'none'; sandbox allow-same-origin allow-scripts" },
      }
    case '/slow':
      await new Promise((resolve) => setTimeout(resolve, number('ms', 500)))
      return json({ late: true })
    case '/api/items':
      if (method !== 'POST') return json({ items: items.slice(0, number('limit', 10)), total: items.length })
      return {
        ...json({ id: 42, ...parsed(body) }),
        status: 201,
        headers: { 'set-cookie': 'basket=cookie-of-the-basket; Path=/; HttpOnly' },
      }
    case '/api/private':
      if (!headers.authorization?.startsWith('Bearer ')) return { ...json({ error: 'who are you?' }), status: 401 }
      return {
        ...json({ secret: 'a quiet place', token: 'token-in-the-answer' }),
        headers: { 'set-cookie': 'session=cookie-of-the-session; Path=/; HttpOnly' },
      }
    case '/api/fail':
      return { ...json({ error: 'the server failed as asked' }), status: 500 }
    case '/api/moved':
      return { status: 302, headers: { location: '/api/items' }, body: '' }
    default: {
      const id = /^\/api\/items\/(\d+)$/.exec(pathname)?.[1]
      const item = items.find((each) => String(each.id) === id)
      if (item !== undefined) return json(item)
      return { ...json({ error: `nothing at ${pathname}` }), status: 404 }
    }
  }
}

function json(value: unknown): Answer {
  return { type: 'application/json', body: JSON.stringify(value) }
}

function parsed(body: string): object {
  try {
    return Object(JSON.parse(body)) as object
  } catch {
    return { body }
  }
}

/** Sends megabytes as fast as the client accepts them. */
async function stream(response: ServerResponse, url: URL): Promise<void> {
  const megabyte = Buffer.alloc(1024 * 1024, 'abcdefgh')
  const count = Number(url.searchParams.get('mb') ?? 10)
  const type = url.searchParams.get('type') ?? 'text/plain'
  response.writeHead(200, { 'content-type': type, 'content-length': count * megabyte.length, 'cache-control': 'no-store' })
  const closed = new Promise((resolve) => response.once('close', resolve))
  for (let sent = 0; sent < count && !response.destroyed; sent++) {
    if (!response.write(megabyte)) await Promise.race([new Promise((resolve) => response.once('drain', resolve)), closed])
  }
  response.end()
}
