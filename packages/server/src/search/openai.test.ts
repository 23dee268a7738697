import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { asUsual, embedded, embeddings, json, type Manner, vectorOf } from '../../test/embeddings.ts'
import { openAiEmbedder } from './index.ts'

const { signal } = new AbortController()
const model = 'small'

describe('an OpenAI-compatible endpoint', () => {
  test('gets the texts, the model and the key, and gives a vector for each text', async () => {
    await using endpoint = await embeddings()
    const embedder = openAiEmbedder({ url: endpoint.url, model, apiKey: 'key-1' })
    const vectors = await embedder.embed(['a car', 'a bill'], signal)
    expect(vectors).toEqual([Float32Array.from(vectorOf('a car')), Float32Array.from(vectorOf('a bill'))])
    expect(endpoint.asked).toEqual([{ path: '/v1/embeddings', authorization: 'Bearer key-1', model, input: ['a car', 'a bill'] }])
  })

  test('may be named by its whole address, and needs no key', async () => {
    await using endpoint = await embeddings()
    await openAiEmbedder({ url: `${endpoint.url}/embeddings`, model }).embed(['a car'], signal)
    expect(endpoint.asked).toMatchObject([{ path: '/v1/embeddings', authorization: undefined }])
  })

  test('vectors that come in another order are put into that of the texts', async () => {
    await using endpoint = await embeddings(({ input }, response) => json(response, { data: input.map(embedded).reverse() }))
    const vectors = await openAiEmbedder({ url: endpoint.url, model }).embed(['a car', 'a bill'], signal)
    expect(vectors[0]).toEqual(Float32Array.from(vectorOf('a car')))
  })

  test('many or long texts are sent in several requests, and every vector finds its text', async () => {
    await using endpoint = await embeddings()
    const embedder = openAiEmbedder({ url: endpoint.url, model })
    const text = fc.constantFrom('car', 'bill', 'rain', 'x'.repeat(60_000))
    await fc.assert(
      fc.asyncProperty(fc.array(text, { maxLength: 300 }), async (texts) => {
        const from = endpoint.asked.length
        expect(await embedder.embed(texts, signal)).toEqual(texts.map((each) => Float32Array.from(vectorOf(each))))
        for (const { input } of endpoint.asked.slice(from)) {
          expect(input.length).toBeLessThanOrEqual(128)
          expect(input.join('').length).toBeLessThanOrEqual(200_000)
        }
      }),
      { numRuns: 10 },
    )
  })

  const wrong: { readonly [what: string]: { readonly manner: Manner; readonly said: RegExp } } = {
    'a status': {
      manner: (_, response) => json(response, { error: { message: 'no such model' } }, 404),
      said: /404.*no such model/,
    },
    'no JSON': { manner: (_, response) => void response.end('<html>hello</html>'), said: /not a list of embeddings/ },
    'other JSON': { manner: (_, response) => json(response, { data: [1, null] }), said: /not a list of embeddings/ },
    'too few': {
      manner: ({ input }, response) => json(response, { data: input.slice(1).map(embedded) }),
      said: /1 vectors for 2/,
    },
    'the same place twice': {
      manner: ({ input }, response) => json(response, { data: input.map((text) => embedded(text, 0)) }),
      said: /cannot be used, at place 1/,
    },
    'text for numbers': {
      manner: ({ input }, response) => json(response, { data: input.map(() => ({ embedding: ['1', '2'] })) }),
      said: /cannot be used, at place 0/,
    },
    'empty vectors': {
      manner: ({ input }, response) => json(response, { data: input.map(() => ({ embedding: [] })) }),
      said: /0 dimensions/,
    },
    'different dimensions': {
      manner: ({ input }, response) =>
        json(response, { data: input.map((_, index) => ({ embedding: Array.from({ length: index + 1 }, () => 1) })) }),
      said: /of 1 and of 2 dimensions/,
    },
    'a redirect': { manner: (_, response) => void response.writeHead(307, { location: '/elsewhere' }).end(), said: /redirect/i },
    'half an answer': {
      manner: (_, response) => void response.write('{"data": [', () => response.destroy()),
      said: /embedder at/,
    },
  }
  test.each(Object.entries(wrong))('that answers with %s is an error that says so', async (_, { manner, said }) => {
    await using endpoint = await embeddings(manner)
    const embedding = openAiEmbedder({ url: endpoint.url, model }).embed(['a car', 'a bill'], signal)
    await expect(embedding).rejects.toThrow(said)
    await expect(embedding).rejects.toThrow(endpoint.url)
  })

  test('that nobody serves is an error that says so', async () => {
    const endpoint = await embeddings()
    await endpoint[Symbol.asyncDispose]()
    await expect(openAiEmbedder({ url: endpoint.url, model }).embed(['a car'], signal)).rejects.toThrow(/ECONNREFUSED/)
  })

  test('is given up when the signal fires', async () => {
    await using endpoint = await embeddings(() => undefined)
    const controller = new AbortController()
    const embedding = openAiEmbedder({ url: endpoint.url, model }).embed(['a car'], controller.signal)
    controller.abort(new Error('enough'))
    await expect(embedding).rejects.toThrow('enough')
  })

  test('that repeats the key does not bring it into the error', async () => {
    await using endpoint = await embeddings(({ authorization }, response) => json(response, { error: authorization }, 401))
    const embedding = openAiEmbedder({ url: endpoint.url, model, apiKey: 'sk-secret' }).embed(['a car'], signal)
    await expect(embedding).rejects.toThrow(/401.*Bearer …/)
  })

  test('is reached through the fetch that is given', async () => {
    await using endpoint = await embeddings(asUsual)
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
  'the address "%s" is refused at once',
  (url) => {
    expect(() => openAiEmbedder({ url, model })).toThrow(/url of the embedder/)
  },
)

test('a key that no header can hold is refused at once, without repeating it', () => {
  expect(() => openAiEmbedder({ url: 'http://127.0.0.1/v1', model, apiKey: 'two\nlines' })).toThrow(/^((?!two).)*$/s)
})
