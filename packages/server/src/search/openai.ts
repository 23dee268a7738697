import { Failure, printable } from '@unfold-mcp/core'
import { errorMessage } from '../tool/report.ts'
import { type Embedder, validateVectors } from './embedder.ts'

export interface OpenAiEmbedderOptions {
  /** Base URL such as `https://api.openai.com/v1`, or the full URL ending in `/embeddings`. */
  readonly url: string
  readonly model: string
  readonly apiKey?: string
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch
}

const maxBatchTexts = 128
const maxBatchCharacters = 200_000
const maxResponseBytes = 64 * 1024 * 1024

/** Embedder for an OpenAI-compatible `/v1/embeddings` endpoint: OpenAI, Ollama, llama.cpp, vLLM and others. */
export function openAiEmbedder({ url, model, apiKey = '', fetch: send = fetch }: OpenAiEmbedderOptions): Embedder {
  const endpoint = embeddingsUrl(url)
  // fetch() quotes an invalid header value in its error.
  if (!/^[\x21-\x7e]*$/.test(apiKey)) {
    throw new Failure('invalid_declaration', 'The apiKey of the embedder has characters that are not allowed in a header.', {
      what: 'apiKey',
    })
  }
  const headers = { 'content-type': 'application/json', ...(apiKey !== '' && { authorization: `Bearer ${apiKey}` }) }

  async function embedBatch(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]> {
    const body = JSON.stringify({ model, input: texts })
    // A redirect would send the texts to another host.
    const response = await send(endpoint, { method: 'POST', headers, body, signal, redirect: 'error' })
    const text = await readText(response)
    if (!response.ok) throw new Error(`status ${response.status}: ${printable(text, 200)}`)
    return validateVectors(parseVectors(text, texts.length), texts.length)
  }

  return {
    async embed(texts, signal) {
      const vectors: Float32Array[] = []
      try {
        for (const batch of batches(texts)) vectors.push(...(await embedBatch(batch, signal)))
        return validateVectors(vectors, texts.length)
      } catch (error) {
        signal.throwIfAborted()
        const reason = apiKey === '' ? describeError(error) : describeError(error).replaceAll(apiKey, '…')
        throw new Error(`The embedder at ${endpoint} failed: ${reason}`, { cause: error })
      }
    },
  }
}

function embeddingsUrl(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol) || parsed.username !== '' || parsed.password !== '') {
    const message =
      'The url of the embedder must be an http or https URL without credentials, such as "https://api.openai.com/v1".'
    throw new Failure('invalid_declaration', message, { what: 'url' })
  }
  if (!/\/embeddings\/?$/.test(parsed.pathname)) parsed.pathname = `${parsed.pathname.replace(/\/+$/, '')}/embeddings`
  return parsed.href
}

/** Includes the cause: the message of `fetch` is only "fetch failed". */
function describeError(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? errorMessage(error.cause) : ''
  return [errorMessage(error) || 'no error message', cause].filter(Boolean).join(': ')
}

function* batches(texts: readonly string[]): Generator<readonly string[]> {
  let batch: string[] = []
  let characters = 0
  for (const text of texts) {
    if (batch.length > 0 && (batch.length === maxBatchTexts || characters + text.length > maxBatchCharacters)) {
      yield batch
      batch = []
      characters = 0
    }
    batch.push(text)
    characters += text.length
  }
  if (batch.length > 0) yield batch
}

async function readText({ body }: Response): Promise<string> {
  if (body === null) return ''
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    bytes += chunk.length
    if (bytes > maxResponseBytes) throw new Error(`the response exceeds ${maxResponseBytes} bytes`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/** Returns the vectors of a response in the order of the texts. */
function parseVectors(text: string, count: number): readonly Float32Array[] {
  const data = parseData(text)
  if (data === undefined) throw new Error(`the response is not a list of embeddings: ${printable(text, 200)}`)
  const vectors: Float32Array[] = []
  for (const [position, item] of data.entries()) {
    const { index = position, embedding } = item
    if (!Number.isInteger(index) || index < 0 || index >= count || vectors[index] !== undefined || !isNumberArray(embedding)) {
      throw new Error(`invalid embedding at position ${position}`)
    }
    vectors[index] = Float32Array.from(embedding)
  }
  return vectors
}

function parseData(text: string): readonly { readonly index?: number; readonly embedding?: unknown }[] | undefined {
  try {
    const { data } = JSON.parse(text) as { data?: unknown }
    return Array.isArray(data) && data.every((item) => typeof item === 'object' && item !== null) ? data : undefined
  } catch {
    return undefined
  }
}

const isNumberArray = (value: unknown): value is readonly number[] => Array.isArray(value) && value.every(Number.isFinite)
