import { expect, test } from 'vitest'
import { callResult } from './call-result.ts'

const validated = async (value: unknown): Promise<object> => callResult['~standard'].validate(value)

test('a result with only text is accepted unchanged', async () => {
  const answer = { content: [{ type: 'text', text: 'done' }], isError: true, structuredContent: { n: 1 }, _meta: { a: 1 } }
  expect(await validated(answer)).toEqual({ value: answer })
})

test('any other result is validated completely', async () => {
  const image = { content: [{ type: 'image', data: 'aGk=', mimeType: 'image/png' }] }
  expect(await validated(image)).toMatchObject({ value: image })
  expect(await validated({ structuredContent: { n: 1 } })).toMatchObject({ value: { content: [] } })
})

test.each([
  { content: 'text' },
  { content: [{ type: 'text', text: 1 }] },
  { content: [{ type: 'image' }] },
  { content: [], isError: 'yes' },
  { content: [], _meta: [] },
  { task: { taskId: 'a' } },
  { inputRequests: {} },
  [],
  null,
])('%j is rejected', async (value) => {
  expect(await validated(value)).toHaveProperty('issues')
})
