import { expect, test } from 'vitest'
import { facetOf, type Tool, type ToolAnnotations } from './tool.ts'

const tool = (annotations?: ToolAnnotations): Tool => ({
  name: 'act',
  inputSchema: { type: 'object' },
  ...(annotations === undefined ? {} : { annotations }),
})

test.each<[string, ToolAnnotations | undefined, ReturnType<typeof facetOf>]>([
  ['without annotations may write', undefined, 'write'],
  ['with other hints may write', { idempotentHint: true }, 'write'],
  ['with readOnlyHint is read-only', { readOnlyHint: true }, 'read-only'],
  ['with destructiveHint is destructive', { destructiveHint: true }, 'destructive'],
  ['with readOnlyHint: false may write', { readOnlyHint: false, destructiveHint: false }, 'write'],
  ['that only reads has nothing to destroy', { readOnlyHint: true, destructiveHint: true }, 'read-only'],
])('a tool %s', (_, annotations, facet) => {
  expect(facetOf(tool(annotations))).toBe(facet)
})

test('the compiler rejects a tool whose input is not an object', () => {
  // @ts-expect-error the input schema of a tool has the type "object"
  const wrong: Tool = { name: 'act', inputSchema: { type: 'string' } }
  expect(wrong.name).toBe('act')
})
