import type { TestClient } from '../src/testing/index.ts'

/** What comes over the wire in answer to a request, as text. */
export async function answerTo({ client, transport }: TestClient, method: string, params: object = {}): Promise<string> {
  const deliver = transport.onmessage
  const seen: string[] = []
  transport.onmessage = (message, extra) => {
    if ('error' in message) seen.push(JSON.stringify(message.error))
    if ('result' in message) seen.push(JSON.stringify(message.result))
    deliver?.(message, extra)
  }
  try {
    await client.request({ method, params } as never).catch(() => undefined)
  } finally {
    if (deliver !== undefined) transport.onmessage = deliver
  }
  return seen.at(-1) ?? 'nothing'
}

/** The tools in such an answer, as text. */
export const toolsIn = (text: string): string => JSON.stringify((JSON.parse(text) as { tools: unknown }).tools)
