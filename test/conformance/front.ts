import { forward, type HttpProxy, httpProxy } from '../http-proxy.ts'

/** A proxy that can modify requests to a server. */
type Front = HttpProxy & { readonly url: string }

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
  const proxy = await httpProxy(async (incoming, outgoing, body) => {
    const changed = change(body.toString())
    if (changed === 'refuse') {
      outgoing.writeHead(400).end('No session')
      return
    }
    const { host = '', 'mcp-name': name } = incoming.headers
    const sent = changed === undefined ? body : Buffer.from(changed.text)
    const headers = {
      // The suite checks what servers do with a foreign host.
      host,
      ...(incoming.headers['content-length'] !== undefined && { 'content-length': String(sent.length) }),
      ...(name !== undefined && changed !== undefined && { 'mcp-name': `${changed.prefix}${String(name)}` }),
    }
    if (!(await forward(incoming, outgoing, { port: Number(port), body: sent, headers }))) outgoing.destroy()
  })
  return { ...proxy, url: `${proxy.origin}${pathname}` }
}
