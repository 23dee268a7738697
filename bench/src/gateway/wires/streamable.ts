import { HttpConnection } from './http.ts'
import { changed, clientInfo, cutter, initializeParams, type Wire } from './wire.ts'

/** A session client over Streamable HTTP. `receivesNotifications` opens the stream for notifications. */
export async function streamableWire(
  address: string,
  { receivesNotifications = false }: { readonly receivesNotifications?: boolean } = {},
): Promise<Wire> {
  const url = new URL(address)
  const [asking, listening] = [new HttpConnection(url), new HttpConnection(url)]
  const wire: Wire = {
    async ask(method, params = {}) {
      const message = JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params })
      return (await asking.post(url.pathname, headers, message)).body
    },
    noticed: () => undefined,
    async [Symbol.asyncDispose]() {
      listening.close()
      asking.close()
    },
  }
  let id = 0
  let headers = ''
  try {
    const hello = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params: initializeParams })
    const { session } = await asking.post(url.pathname, headers, hello)
    headers = `mcp-protocol-version: ${initializeParams.protocolVersion}\r\nmcp-session-id: ${session}\r\n`
    await asking.post(url.pathname, headers, JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }))
    const onEvent = cutter('\n\n', (event) => {
      if (event.includes(changed)) wire.noticed()
    })
    if (receivesNotifications) await listening.listen(headers, onEvent)
    return wire
  } catch (error) {
    await wire[Symbol.asyncDispose]()
    throw error
  }
}

const revision = '2026-07-28'
const _meta = {
  'io.modelcontextprotocol/protocolVersion': revision,
  'io.modelcontextprotocol/clientInfo': clientInfo,
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** A client of 2026-07-28, without a session. */
export async function statelessWire(address: string): Promise<Wire> {
  const url = new URL(address)
  const asking = new HttpConnection(url)
  let id = 0
  return {
    async ask(method, params = {}) {
      const name = 'name' in params && typeof params.name === 'string' ? `mcp-name: ${params.name}\r\n` : ''
      const headers = `mcp-protocol-version: ${revision}\r\nmcp-method: ${method}\r\n${name}`
      const message = JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params: { ...params, _meta } })
      return (await asking.post(url.pathname, headers, message)).body
    },
    noticed: () => undefined,
    async [Symbol.asyncDispose]() {
      asking.close()
    },
  }
}
