import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A proxy that can modify requests to a server. */
type Front = AsyncDisposable & { readonly url: string }

/** Rewrites a request; `undefined` forwards it unchanged. */
type Change = (text: string) => { readonly text: string; readonly prefix: string } | 'refuse' | undefined

/**
 * Adds a prefix to prompt names: a gateway prefixes them, and unlike tool names they cannot be configured to match the names
 * that the suite expects.
 */
export const prefixing = (target: string, prefix: string): Promise<Front> =>
  front(target, (text) => {
    if (!/"method":"prompts\/get"|"type":"ref\/prompt"/u.test(text)) return undefined
    return { text: text.replace(/"name":"(?=test_)/u, `"name":"${prefix}`), prefix }
  })

/** Makes a server session-only: it rejects requests without a session. */
export const sessionsAlone = (target: string): Promise<Front> =>
  front(target, (text) => (text.includes('"method":"server/discover"') ? 'refuse' : undefined))

async function front(target: string, change: Change): Promise<Front> {
  const { port, pathname } = new URL(target)
  const server = createServer((asked, answered) => void forward(asked, answered, { port: Number(port), change }))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

async function forward(
  asked: IncomingMessage,
  answered: ServerResponse,
  { port, change }: { readonly port: number; readonly change: Change },
): Promise<void> {
  const parts: Buffer[] = []
  for await (const part of asked) parts.push(part as Buffer)
  const body = Buffer.concat(parts)
  const changed = change(body.toString())
  if (changed === 'refuse') {
    answered.writeHead(400).end('No session')
    return
  }
  const sent = changed === undefined ? body : Buffer.from(changed.text)
  const headers = [...asked.rawHeaders]
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at]?.toLowerCase()
    if (name === 'content-length') headers[at + 1] = String(sent.length)
    if (name === 'mcp-name' && changed !== undefined) headers[at + 1] = `${changed.prefix}${headers[at + 1]}`
  }
  const passed = request({ host: '127.0.0.1', port, path: asked.url, method: asked.method, headers }, (answer) => {
    answered.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
    answered.flushHeaders()
    answer.pipe(answered)
  })
  passed.on('error', () => answered.destroy())
  answered.on('close', () => passed.destroy())
  passed.end(sent)
}
