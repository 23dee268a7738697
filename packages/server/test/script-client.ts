import { CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY, PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server'
import type { Principal } from '../src/tool/principal.ts'
import { createHandler, type Handler } from '../src/transports/handler.ts'

/** The result of a call, or its JSON-RPC error. */
export interface Reply {
  readonly resultType?: string
  readonly content?: readonly { readonly type: string; readonly text?: string }[]
  readonly structuredContent?: unknown
  readonly isError?: boolean
  readonly inputRequests?: {
    readonly [key: string]: { readonly method: string; readonly params: { readonly message: string } }
  }
  readonly requestState?: string
  readonly _meta?: { readonly [key: string]: unknown }
}

export interface Repeat {
  readonly requestState?: string | undefined
  readonly inputResponses?: object
}

export interface StatelessOptions {
  readonly principal?: Principal
  /** Default: it can show forms. */
  readonly capabilities?: object
  readonly view?: string
}

const principalHeader = 'x-test-principal'

/** Calls tools as a 2026-07-28 client that sees every reply, and can repeat and alter its requests. */
export function statelessCaller(handler: Handler, options: StatelessOptions = {}) {
  const { principal, capabilities = { elicitation: { form: {} } }, view = 'exposure=code' } = options
  return async (name: string, args: object, repeat: Repeat = {}): Promise<Reply> => {
    const _meta = {
      [PROTOCOL_VERSION_META_KEY]: '2026-07-28',
      [CLIENT_INFO_META_KEY]: { name: 'test', version: '1.0.0' },
      [CLIENT_CAPABILITIES_META_KEY]: capabilities,
    }
    const response = await handler.fetch(
      new Request(`http://localhost/mcp?${view}`, {
        method: 'POST',
        headers: {
          accept: 'application/json, text/event-stream',
          'content-type': 'application/json',
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'tools/call',
          'mcp-name': name,
          ...(principal !== undefined && { [principalHeader]: principal.id }),
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name, arguments: args, ...repeat, _meta },
        }),
      }),
    )
    const text = await response.text()
    const json = text.startsWith('{') ? text : (text.split('\n').findLast((line) => line.startsWith('data: ')) ?? '').slice(6)
    const { result, error } = JSON.parse(json) as { result?: Reply; error?: object }
    if (result === undefined) throw new Error(JSON.stringify(error))
    return result
  }
}

/** Serves a toolbox to callers with a principal. */
export const scriptHandler = (toolbox: object): Handler =>
  createHandler(toolbox, {
    authenticate: (request) => {
      const id = request.headers.get(principalHeader)
      return id === null ? undefined : { id }
    },
  })

/** Text of a reply. */
export const textOf = ({ content = [] }: Pick<Reply, 'content'>): string => content.map(({ text }) => text ?? '').join('\n')

/** The answer of a person to the question of a script. */
export const confirmed = (decision = 'Run these calls', further?: number): object => ({
  confirm: { action: 'accept', content: { decision, ...(further !== undefined && { further }) } },
})
