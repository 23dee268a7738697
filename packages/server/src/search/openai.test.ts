import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { embedded, embeddings, json, type Responder, respondNormally, vectorOf } from '../../test/embeddings.ts'
import { openAiEmbedder } from './index.ts'

const { signal } = new AbortController()
const model = 'small'

describe('an OpenAI-compatible endpoint', () => {
  test('receives the texts, the model and the key, and returns a vector for each text', async () => {
    await using endpoint = await embeddings()
    const embedder = openAiEmbedder({ url: endpoint.url, model, apiKey: 'key-1' })
    const vectors = await embedder.embed(['a car', 'a bill'], signal)
    expect(vectors).toEqual([Float32Array.from(vectorOf('a car')), Float32Array.from(vectorOf('a bill'))])
    expect(endpoint.requests).toEqual([
      { path: '/v1/embeddings', authorization: 'Bearer key-1', model, input: ['a car', 'a bill'] },
    ])
  })

  test('may be specified by its full URL, and needs no key', async () => {
    await using endpoint = await embeddings()
    await openAiEmbedder({ url: `${endpoint.url}/embeddings`, model }).embed(['a car'], signal)
    expect(endpoint.requests).toMatchObject([{ path: '/v1/embeddings', authorization: undefined }])
  })

  test('vectors are sorted into the order of the texts', async () => {
    await using endpoint = await embeddings(({ input }, response) => json(response, { data: input.map(embedded).reverse() }))
    const vectors = await openAiEmbedder({ url: endpoint.url, model }).embed(['a car', 'a bill'], signal)
    expect(vectors[0]).toEqual(Float32Array.from(vectorOf('a car')))
  })

  test('many or long texts are sent in batches, and vectors stay in order', async () => {
    await using endpoint = await embeddings()
    const embedder = openAiEmbedder({ url: endpoint.url, model })
    const text = fc.constantFrom('car', 'bill', 'rain', 'x'.repeat(60_000))
    await fc.assert(
      fc.asyncProperty(fc.array(text, { maxLength: 300 }), async (texts) => {
        const from = endpoint.requests.length
        expect(await embedder.embed(texts, signal)).toEqual(texts.map((each) => Float32Array.from(vectorOf(each))))
        for (const { input } of endpoint.requests.slice(from)) {
          expect(input.length).toBeLessThanOrEqual(128)
          expect(input.join('').length).toBeLessThanOrEqual(200_000)
        }
      }),
      { numRuns: 10 },
    )
  })

  const failures: { readonly [what: string]: { readonly respond: Responder; readonly error: RegExp } } = {
    'an error status': {
      respond: (_, response) => json(response, { error: { message: 'no such model' } }, 404),
      error: /404.*no such model/,
    },
    'no JSON': { respond: (_, response) => void response.end('<html>hello</html>'), error: /not a list of embeddings/ },
    'other JSON': { respond: (_, response) => json(response, { data: [1, null] }), error: /not a list of embeddings/ },
    'too few': {
      respond: ({ input }, response) => json(response, { data: input.slice(1).map(embedded) }),
      error: /1 vectors for 2/,
    },
    'a duplicate index': {
      respond: ({ input }, response) => json(response, { data: input.map((text) => embedded(text, 0)) }),
      error: /invalid embedding at position 1/,
    },
    'strings instead of numbers': {
      respond: ({ input }, response) => json(response, { data: input.map(() => ({ embedding: ['1', '2'] })) }),
      error: /invalid embedding at position 0/,
    },
    'empty vectors': {
      respond: ({ input }, response) => json(response, { data: input.map(() => ({ embedding: [] })) }),
      error: /0 dimensions/,
    },
    'different dimensions': {
      respond: ({ input }, response) =>
        json(response, { data: input.map((_, index) => ({ embedding: Array.from({ length: index + 1 }, () => 1) })) }),
      error: /of 1 and of 2 dimensions/,
    },
    'a redirect': {
      respond: (_, response) => void response.writeHead(307, { location: '/elsewhere' }).end(),
      error: /redirect/i,
    },
    'a truncated response': {
      respond: (_, response) => void response.write('{"data": [', () => response.destroy()),
      error: /embedder at/,
    },
  }
  test.each(Object.entries(failures))('that returns %s causes an error that says so', async (_, { respond, error }) => {
    await using endpoint = await embeddings(respond)
    const embedding = openAiEmbedder({ url: endpoint.url, model }).embed(['a car', 'a bill'], signal)
    await expect(embedding).rejects.toThrow(error)
    await expect(embedding).rejects.toThrow(endpoint.url)
  })

  test('that is not reachable causes an error that says so', async () => {
    const endpoint = await embeddings()
    await endpoint[Symbol.asyncDispose]()
    await expect(openAiEmbedder({ url: endpoint.url, model }).embed(['a car'], signal)).rejects.toThrow(/ECONNREFUSED/)
  })

  test('is cancelled by the signal', async () => {
    await using endpoint = await embeddings(() => undefined)
    const controller = new AbortController()
    const embedding = openAiEmbedder({ url: endpoint.url, model }).embed(['a car'], controller.signal)
    controller.abort(new Error('enough'))
    await expect(embedding).rejects.toThrow('enough')
  })

  test('that echoes the key does not leak it into the error', async () => {
    await using endpoint = await embeddings(({ authorization }, response) => json(response, { error: authorization }, 401))
    const embedding = openAiEmbedder({ url: endpoint.url, model, apiKey: 'sk-secret' }).embed(['a car'], signal)
    await expect(embedding).rejects.toThrow(/401.*Bearer …/)
  })

  test('is called with the custom fetch', async () => {
    await using endpoint = await embeddings(respondNormally)
    const addresses: unknown[] = []
    const embedder = openAiEmbedder({
      url: endpoint.url,
      model,
      fetch(address, init) {
        addresses.push(address)
        return fetch(address, init)
      },
    })
    await embedder.embed(['a car'], signal)
    expect(addresses).toEqual([`${endpoint.url}/embeddings`])
  })
})

test.each(['', 'localhost:1234', 'file:///etc', 'https://name:password@example.com/v1'])(
  'the URL "%s" is rejected at once',
  (url) => {
    expect(() => openAiEmbedder({ url, model })).toThrow(/url of the embedder/)
  },
)

test('a key that is not valid in a header is rejected at once, without quoting it', () => {
  expect(() => openAiEmbedder({ url: 'http://127.0.0.1/v1', model, apiKey: 'two\nlines' })).toThrow(/^((?!two).)*$/s)
})
