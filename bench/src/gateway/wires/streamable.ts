import { HttpConnection } from './http.ts'
import { changed, clientInfo, cutter, initializeParams, type Wire } from './wire.ts'

export interface StreamableOptions {
  /** Opens the stream for notifications. */
  readonly receivesNotifications?: boolean
  /** Address of the replica that has the stream. Default: the one that has the requests. */
  readonly elsewhere?: string
}

/** A client whose session other replicas serve too. */
export interface StreamableWire extends Wire {
  /** Sends a request to another address. */
  askAt(address: string, method: string, params?: object): Promise<Buffer>
}

/** A session client over Streamable HTTP. */
export async function streamableWire(
  address: string,
  { receivesNotifications = false, elsewhere }: StreamableOptions = {},
): Promise<StreamableWire> {
  const url = new URL(address)
  const [asking, listening] = [new HttpConnection(url), new HttpConnection(new URL(elsewhere ?? address))]
  const path = `${url.pathname}${url.search}`
  const messageOf = (method: string, params: object): string => JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params })
  const wire: StreamableWire = {
    ask: async (method, params = {}) => (await asking.post(path, headers, messageOf(method, params))).body,
    async askAt(other, method, params = {}) {
      const connection = new HttpConnection(new URL(other))
      try {
        return (await connection.post(path, headers, messageOf(method, params))).body
      } finally {
        connection.close()
      }
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
    const { session } = await asking.post(path, headers, hello)
    headers = `mcp-protocol-version: ${initializeParams.protocolVersion}\r\nmcp-session-id: ${session}\r\n`
    await asking.post(path, headers, JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }))
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

/** A 2026-07-28 client, without a session. */
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
