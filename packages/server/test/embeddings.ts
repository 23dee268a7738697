import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What the endpoint sees of a request. */
export interface Asked {
  readonly path: string
  readonly authorization: string | undefined
  readonly model: unknown
  readonly input: readonly string[]
}

/** How it answers. */
export type Manner = (asked: Asked, response: ServerResponse) => void | Promise<void>

export interface Embeddings extends AsyncDisposable {
  /** Ends in `/v1`. */
  readonly url: string
  readonly asked: readonly Asked[]
  manner: Manner
}

/** Words of one line mean the same, to the endpoint. */
const meanings = [
  ['car', 'automobile', 'vehicle'],
  ['invoice', 'bill', 'charge'],
  ['mail', 'letter', 'message'],
  ['weather', 'rain', 'sunshine'],
  ['photo', 'picture', 'image'],
  ['calendar', 'appointment', 'meeting'],
  ['song', 'music', 'tune'],
  ['recipe', 'cook', 'dish'],
  ['train', 'railway', 'timetable'],
  ['translate', 'language', 'dictionary'],
]

/** The same text always has the same vector, and texts about the same things have near ones. */
export function vectorOf(text: string): number[] {
  const words = text.toLowerCase().split(/[^a-z]+/)
  return [...meanings.map((line) => words.filter((word) => line.includes(word)).length), 0.1]
}

export const asUsual: Manner = ({ input }, response) => json(response, { data: input.map(embedded) })

export const embedded = (text: string, index: number) => ({ object: 'embedding', index, embedding: vectorOf(text) })

export function json(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

/** A real endpoint on loopback. */
export async function embeddings(manner: Manner = asUsual): Promise<Embeddings> {
  const asked: Asked[] = []
  const made = { manner }
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { model, input } = JSON.parse(Buffer.concat(chunks).toString()) as { model: unknown; input: string[] }
    const one = { path: request.url ?? '', authorization: request.headers.authorization, model, input }
    asked.push(one)
    await made.manner(one, response)
  }
  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1`,
    asked,
    get manner() {
      return made.manner
    },
    set manner(next) {
      made.manner = next
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
