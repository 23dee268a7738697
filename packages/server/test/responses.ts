import type { TestClient } from '../src/testing/index.ts'

/** Sends a request and returns the JSON of its result or error. */
export async function responseTo({ client, transport }: TestClient, method: string, params: object = {}): Promise<string> {
  const deliver = transport.onmessage
  const responses: string[] = []
  transport.onmessage = (message, extra) => {
    if ('error' in message) responses.push(JSON.stringify(message.error))
    if ('result' in message) responses.push(JSON.stringify(message.result))
    deliver?.(message, extra)
  }
  try {
    await client.request({ method, params } as never).catch(() => undefined)
  } finally {
    if (deliver !== undefined) transport.onmessage = deliver
  }
  return responses.at(-1) ?? 'no response'
}

/** Returns the JSON of the tools in a `tools/list` result. */
export const toolsIn = (text: string): string => JSON.stringify((JSON.parse(text) as { tools: unknown }).tools)
