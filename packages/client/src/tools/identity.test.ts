import type { Tool } from '@unfold-mcp/core'
import { expect, test } from 'vitest'
import { announcedIdentity, identityIn, identityOfTools, isIdentityOf, knowsIdentity, parseIdentity } from './identity.ts'

const tool = (name: string, rest: Partial<Tool> = {}): Tool => ({ name, inputSchema: { type: 'object' }, ...rest })
const id = '550e8400-e29b-81d4-a716-446655440000'

test('the same tools have the same identity in any order, and any other tool changes it', () => {
  const identity = identityOfTools([tool('a'), tool('b')]) ?? ''
  expect(identityOfTools([tool('b'), tool('a', { _meta: { live: 1 } })])).toBe(identity)
  expect(identityOfTools([tool('a'), tool('b', { description: 'x' })])).not.toBe(identity)
  expect(isIdentityOf(identity.toUpperCase(), [tool('a'), tool('b')])).toBe(true)
  expect(isIdentityOf(identity, [tool('a')])).toBe(false)
})

test('an identity based on names and descriptions is recognised as well', () => {
  const names = identityOfTools([tool('a')], 'names') ?? ''
  expect(isIdentityOf(names, [tool('a', { title: 'A' })])).toBe(true)
})

test('an output schema that was wrapped for the session era counts as the original one', () => {
  const natural = { type: 'array', items: { $ref: '#/$defs/it' }, $defs: { it: { anyOf: [{ type: 'string' }, { $ref: '#' }] } } }
  const items = { $ref: '#/properties/result/$defs/it' }
  const $defs = { it: { anyOf: [{ type: 'string' }, { $ref: '#/properties/result' }] } }
  const wrapped = { type: 'object', properties: { result: { type: 'array', items, $defs } }, required: ['result'] }
  expect(identityOfTools([tool('a', { outputSchema: wrapped })])).toBe(identityOfTools([tool('a', { outputSchema: natural })]))
})

test.each([
  { type: 'object', properties: { result: { type: 'object' } }, required: ['result'] },
  { type: 'object', properties: { result: { type: 'array' } }, required: [] },
  { type: 'object', properties: { result: { type: 'array' }, more: {} }, required: ['result'] },
  { type: 'object', properties: { result: { type: 'array' } }, required: ['result'], description: 'mine' },
])('an output schema that only resembles a wrapped one is unchanged: %j', (outputSchema) => {
  const plain = identityOfTools([tool('a', { outputSchema: { type: 'array' } })])
  expect(identityOfTools([tool('a', { outputSchema })])).not.toBe(plain)
})

test('tools that cannot be serialized have no identity', () => {
  let deep: Record<string, unknown> = {}
  for (let i = 0; i < 50_000; i++) deep = { not: deep }
  expect(identityOfTools([tool('a', { outputSchema: deep })])).toBeUndefined()
  expect(isIdentityOf(id, [tool('a', { outputSchema: deep })])).toBe(false)
})

test('valid announcements of a server are used, and invalid ones are ignored', () => {
  const settings = (value: unknown): unknown => ({ extensions: { 'io.github.unfold-mcp/discovery': value } })
  expect(announcedIdentity(settings({ identity: id }))).toBe(id)
  expect(announcedIdentity(settings({ server_id: id }))).toBe(id)
  for (const wrong of [
    undefined,
    {},
    settings({}),
    settings({ identity: 7 }),
    settings({ identity: 'x'.repeat(500) }),
    settings('x'),
  ])
    expect(announcedIdentity(wrong)).toBeUndefined()
  expect(knowsIdentity(settings({}))).toBe(true)
  expect(knowsIdentity({ extensions: {} })).toBe(false)
  expect(identityIn({ _meta: { 'io.github.unfold-mcp/identity': id } })).toBe(id)
  for (const wrong of [undefined, {}, { _meta: 7 }, { _meta: { 'io.github.unfold-mcp/identity': '' } }])
    expect(identityIn(wrong)).toBeUndefined()
  const answer = { server_id: id, tools_count: 3, protocol_version: '1.0', more: true }
  expect(parseIdentity(answer)).toEqual(answer)
  for (const wrong of [undefined, [], { ...answer, server_id: 7 }, { ...answer, tools_count: '3' }, { server_id: id }])
    expect(parseIdentity(wrong)).toBeUndefined()
})
