import { expect, test } from 'vitest'
import { localEmbedder } from '../../docs/examples/local-model.ts'

test('a local model: loaded once, and again after a failure', async () => {
  let loads = 0
  const embedder = localEmbedder(async () => {
    if (++loads === 1) throw new Error('no network')
    return async (texts) => ({ tolist: () => texts.map(({ length }) => [length, 1]) })
  })
  const { signal } = new AbortController()
  await expect(embedder.embed(['refund'], signal)).rejects.toThrow('no network')
  expect(await embedder.embed(['refund', 'rain'], signal)).toEqual([Float32Array.of(6, 1), Float32Array.of(4, 1)])
  await embedder.embed(['refund'], signal)
  expect(loads).toBe(2)
})
