import { Failure, printable } from '@unfold-mcp/core'
import { errorMessage } from '../tool/report.ts'
import { checkedVectors, type Embedder } from './embedder.ts'

export interface OpenAiEmbedderOptions {
  /** Where the endpoint is: `https://api.openai.com/v1`, or the whole address up to `/embeddings`. */
  readonly url: string
  readonly model: string
  readonly apiKey?: string
  /** How requests are made; the platform's `fetch` by default. */
  readonly fetch?: typeof fetch
}

const mostTexts = 128
const mostCharacters = 200_000
const mostBytes = 64 * 1024 * 1024

/** An embedder behind an OpenAI-compatible `/v1/embeddings` endpoint: OpenAI's own, or that of Ollama, llama.cpp, vLLM and others. */
export function openAiEmbedder({ url, model, apiKey = '', fetch: send = fetch }: OpenAiEmbedderOptions): Embedder {
  const endpoint = endpointOf(url)
  // A key with a line break would be quoted in the error of every request.
  if (!/^[\x21-\x7e]*$/.test(apiKey)) {
    throw new Failure('invalid_declaration', 'The apiKey of the embedder has characters that a header cannot hold.', {
      what: 'apiKey',
    })
  }
  const headers = { 'content-type': 'application/json', ...(apiKey !== '' && { authorization: `Bearer ${apiKey}` }) }

  async function embedSome(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]> {
    const body = JSON.stringify({ model, input: texts })
    // A redirect would take the texts to an address that nobody named.
    const response = await send(endpoint, { method: 'POST', headers, body, signal, redirect: 'error' })
    const text = await textOf(response)
    if (!response.ok) throw new Error(`answered ${response.status}: ${printable(text, 200)}`)
    return checkedVectors(vectorsIn(text, texts.length), texts.length)
  }

  return {
    async embed(texts, signal) {
      const vectors: Float32Array[] = []
      try {
        for (const batch of batchesOf(texts)) vectors.push(...(await embedSome(batch, signal)))
        return checkedVectors(vectors, texts.length)
      } catch (error) {
        signal.throwIfAborted()
        const words = apiKey === '' ? reasonOf(error) : reasonOf(error).replaceAll(apiKey, '…')
        throw new Error(`The embedder at ${endpoint}: ${words}`, { cause: error })
      }
    },
  }
}

function endpointOf(url: string): string {
  const address = URL.canParse(url) ? new URL(url) : undefined
  if (address === undefined || !/^https?:$/.test(address.protocol) || address.username !== '' || address.password !== '') {
    const message =
      'The url of the embedder must be an http or https address without a name or password, such as "https://api.openai.com/v1".'
    throw new Failure('invalid_declaration', message, { what: 'url' })
  }
  if (!/\/embeddings\/?$/.test(address.pathname)) address.pathname = `${address.pathname.replace(/\/+$/, '')}/embeddings`
  return address.href
}

/** What went wrong; `fetch` itself only says that it failed, and why in its cause. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? errorMessage(error.cause) : ''
  return [errorMessage(error) || 'failed without a message', cause].filter(Boolean).join(': ')
}

function* batchesOf(texts: readonly string[]): Generator<readonly string[]> {
  let batch: string[] = []
  let characters = 0
  for (const text of texts) {
    if (batch.length > 0 && (batch.length === mostTexts || characters + text.length > mostCharacters)) {
      yield batch
      batch = []
      characters = 0
    }
    batch.push(text)
    characters += text.length
  }
  if (batch.length > 0) yield batch
}

async function textOf({ body }: Response): Promise<string> {
  if (body === null) return ''
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    bytes += chunk.length
    if (bytes > mostBytes) throw new Error(`answered with more than ${mostBytes} bytes`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/** The vectors of a reply, in the order of the texts. */
function vectorsIn(text: string, count: number): readonly Float32Array[] {
  const data = dataIn(text)
  if (data === undefined) throw new Error(`answered with something that is not a list of embeddings: ${printable(text, 200)}`)
  const vectors: Float32Array[] = []
  for (const [place, item] of data.entries()) {
    const { index = place, embedding } = item
    if (!Number.isInteger(index) || index < 0 || index >= count || vectors[index] !== undefined || !isNumbers(embedding)) {
      throw new Error(`answered with an embedding that cannot be used, at place ${place}`)
    }
    vectors[index] = Float32Array.from(embedding)
  }
  return vectors
}

function dataIn(text: string): readonly { readonly index?: number; readonly embedding?: unknown }[] | undefined {
  try {
    const { data } = JSON.parse(text) as { data?: unknown }
    return Array.isArray(data) && data.every((item) => typeof item === 'object' && item !== null) ? data : undefined
  } catch {
    return undefined
  }
}

const isNumbers = (value: unknown): value is readonly number[] => Array.isArray(value) && value.every(Number.isFinite)
