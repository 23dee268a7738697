import { fileURLToPath } from 'node:url'
import {
  Client,
  type ClientCapabilities,
  type ElicitRequest,
  type ElicitResult,
  type LoggingMessageNotificationParams,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { server } from './upstreams.ts'

/** The reference server with all features of the session era, as a process. */
export const everything = (more: object = {}): object => ({
  command: process.execPath,
  args: [fileURLToPath(new URL('../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url))],
  ...more,
})

/** A server that sends requests and notifications on command, in the era and over the transport in its arguments. */
export const asking = (...manners: readonly string[]): object => ({ ...server('asking.mjs', ...manners) })

export interface Person {
  readonly era: 'session' | 'stateless'
  readonly token?: string
  /** The capabilities of the client; forms, URLs and completions by default. */
  readonly capabilities?: ClientCapabilities
  /** The answer of the user. */
  readonly answer?: (question: ElicitRequest['params']) => ElicitResult | Promise<ElicitResult>
}

const able: ClientCapabilities = { elicitation: { form: {}, url: {} }, sampling: {} }

/** A client of the second SDK with a simulated user, and everything that it received. */
export async function person(url: string, { era, token, capabilities = able, answer }: Person) {
  const asked: ElicitRequest['params'][] = []
  const sampled: unknown[] = []
  const logged: LoggingMessageNotificationParams[] = []
  const noticed: string[] = []
  const client = new Client(
    { name: 'person', version: '1.0.0' },
    { capabilities, versionNegotiation: { mode: era === 'session' ? 'legacy' : { pin: '2026-07-28' } } },
  )
  if (capabilities.elicitation !== undefined)
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      asked.push(params)
      return answer?.(params) ?? { action: 'accept', content: { name: 'Ada' } }
    })
  if (capabilities.sampling !== undefined)
    client.setRequestHandler('sampling/createMessage', async ({ params }) => {
      sampled.push(params)
      return { model: 'none', role: 'assistant', content: { type: 'text', text: 'forty-two' } }
    })
  client.setNotificationHandler('notifications/message', ({ params }) => {
    logged.push(params)
  })
  client.setNotificationHandler('notifications/prompts/list_changed', () => {
    noticed.push('prompts')
  })
  client.setNotificationHandler('notifications/resources/list_changed', () => {
    noticed.push('resources')
  })
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
    noticed.push(params.uri)
  })
  const headers = { ...(token !== undefined && { authorization: `Bearer ${token}` }) }
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })
  await client.connect(transport)
  return {
    client,
    asked,
    sampled,
    logged,
    noticed,
    /** Ends the session. */
    end: () => transport.terminateSession(),
    /** Calls a tool, and returns the text of its result. */
    async text(
      name: string,
      args: Record<string, unknown> = {},
      options: Parameters<Client['callTool']>[1] = {},
    ): Promise<string> {
      const { content } = await client.callTool({ name, arguments: args }, options)
      return content.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
    },
    [Symbol.asyncDispose]: () => client.close(),
  }
}
