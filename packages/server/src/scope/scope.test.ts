import { expect, test } from 'vitest'
import { testContext, testServer } from '../testing/index.ts'
import { defineToolbox } from '../toolbox.ts'

/** A group whose hook prepares something for a scope, and a tool that looks it up by its own scope. */
function kitchen(remember: 'session' | 'principal') {
  const prepared = new Set<string>()
  const toolbox = defineToolbox({
    name: 'kitchen',
    version: '1.0.0',
    remember,
    groups: {
      oven: {
        description: 'Bake',
        hooks: { activate: ({ scope }) => void prepared.add(scope), deactivate: ({ scope }) => void prepared.delete(scope) },
      },
    },
  }).tool('bake', { group: 'oven' }, (_input, { scope }) => (prepared.has(scope) ? 'Baked.' : `Nothing prepared for ${scope}.`))
  return { prepared, toolbox }
}

const baked = { content: [{ type: 'text', text: 'Baked.' }] }

test('a handler finds what a hook prepared for its scope, even if the scope is shared', async () => {
  for (const remember of ['session', 'principal'] as const) {
    const { toolbox } = kitchen(remember)
    await using client = await testContext(toolbox, { principal: { id: 'ada' } })
    await client.call('activate_oven')
    expect(await client.call('bake')).toEqual(baked)
    await using anonymous = await testContext(toolbox, { era: 'stateless' })
    expect(await anonymous.call('bake')).toEqual(baked)
  }
})

test('a 2026-07-28 client that disconnects does not release what others use', async () => {
  const { prepared, toolbox } = kitchen('session')
  for (const transport of ['stdio', 'http'] as const) {
    await using server = await testServer(toolbox, { transport, era: 'stateless' })
    await using first = await server.connect()
    await first.call('bake')
    await first.close()
    await using second = await server.connect()
    expect(await second.call('bake')).toMatchObject(baked)
  }
  expect([...prepared]).toEqual(['shared'])
})
