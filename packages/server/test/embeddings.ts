import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface EmbeddingRequest {
  readonly path: string
  readonly authorization: string | undefined
  readonly model: unknown
  readonly input: readonly string[]
}

export type Responder = (request: EmbeddingRequest, response: ServerResponse) => void | Promise<void>

export interface Embeddings extends AsyncDisposable {
  /** Ends in `/v1`. */
  readonly url: string
  readonly requests: readonly EmbeddingRequest[]
  respond: Responder
}

/** Words on one line are synonyms to the endpoint. */
const synonyms = [
  ['car', 'wagentje', 'vehicle'],
  ['invoice', 'bill', 'charge'],
  ['mail', 'letter', 'message'],
  ['weather', 'rain', 'zonneschijn'],
  ['photo', 'picture', 'image'],
  ['calendar', 'appointment', 'meeting'],
  ['song', 'music', 'deuntje'],
  ['recipe', 'cook', 'dish'],
  ['train', 'railway', 'timetable'],
  ['translate', 'language', 'dictionary'],
]

/** Deterministic; texts with synonyms have similar vectors. */
export function vectorOf(text: string): number[] {
  const words = text.toLowerCase().split(/[^a-z]+/)
  return [...synonyms.map((line) => words.filter((word) => line.includes(word)).length), 0.1]
}

export const respondNormally: Responder = ({ input }, response) => json(response, { data: input.map(embedded) })

export const embedded = (text: string, index: number) => ({ object: 'embedding', index, embedding: vectorOf(text) })

export function json(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

/** Starts an embeddings endpoint on loopback. */
export async function embeddings(respond: Responder = respondNormally): Promise<Embeddings> {
  const requests: EmbeddingRequest[] = []
  const current = { respond }
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { model, input } = JSON.parse(Buffer.concat(chunks).toString()) as { model: unknown; input: string[] }
    const parsed = { path: request.url ?? '', authorization: request.headers.authorization, model, input }
    requests.push(parsed)
    await current.respond(parsed, response)
  }
  const server = createServer((request, response) => void handle(request, response).catch(() => response.destroy()))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    get respond() {
      return current.respond
    },
    set respond(next) {
      current.respond = next
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
