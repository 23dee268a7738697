//#region context
import { testContext, testServer, testTransports } from '@unfold-mcp/server/testing'
import { expect, test } from 'vitest'
import { library } from '../../docs/examples/getting-started.ts'

test('a client sees the search tools after it activated the group', async () => {
  await using client = await testContext(library)
  expect(client.toolNames()).toEqual(['activate_search', 'activate_loans', 'deactivate'])

  await client.call('activate_search')
  expect(client.toolNames()).toContain('find_books')
  expect(client.listChanges).toBe(1)
})
//#endregion

//#region transports
for (const testTransport of testTransports) {
  test(`an activation affects only one client: ${testTransport.transport}, ${testTransport.era}`, async () => {
    await using server = await testServer(library, testTransport)
    await using ada = await server.connect()
    await using bob = await server.connect()
    const before = await bob.toolNames()

    await ada.call('activate_search')
    await ada.settle()
    expect(ada.listChanges).toBe(testTransport.era === 'session' ? 1 : 0)
    expect(await bob.toolNames()).toEqual(before)
    expect(bob.listChanges).toBe(0)
  })
}
//#endregion

//#region failure
test('a tool that does not exist is an error, a tool that fails is a result', async () => {
  await using client = await testContext(library, { view: 'groups=loans' })
  await expect(client.call('lend_bok')).rejects.toMatchObject({ reason: 'unknown_tool' })

  await client.call('lend_book', { title: 'Ficciones' })
  expect(await client.call('lend_book', { title: 'Ficciones' })).toMatchObject({
    isError: true,
    content: [{ text: '"Ficciones" is on loan already.' }],
  })
})
//#endregion
