import { describe, expect, test } from 'vitest'
import { runtimeOf } from '../runtime/servable.ts'
import { testContext } from '../testing/index.ts'
import type { Principal } from '../tool/principal.ts'
import { defineToolbox } from '../toolbox.ts'
import type { ToolboxOptions } from '../toolbox-options.ts'

const eras = ['session', 'stateless'] as const

/** Two tools in a group, one without a group. */
const hub = (options: Partial<ToolboxOptions<unknown>> = {}) =>
  defineToolbox({
    name: 'hub',
    version: '1.0.0',
    report: () => undefined,
    ...options,
    groups: { files: { description: 'Files' } },
  })
    .tool('read_file', { group: 'files', description: 'Reads a file', readOnly: true }, () => '')
    .tool('wipe', { group: 'files', description: 'Removes all files' }, () => '')
    .tool('ping', { description: 'Answers' }, () => 'pong')

const names = (tools: readonly { readonly name: string }[]): readonly string[] => tools.map(({ name }) => name)

describe.each(eras)('a preview in the era "%s"', (era) => {
  test.each(['', 'groups=files', 'exposure=everything', 'exposure=search', 'readOnly=true'])(
    'lists what a client that connects with "%s" sees, and all tools that it may use',
    async (view) => {
      const toolbox = hub()
      const { listed, listedTokens, all, allTokens } = await toolbox.preview({ era, view })
      await using client = await testContext(toolbox, { era, view })
      expect(listed).toEqual(client.tools())
      expect(names(all)).toEqual(view === 'readOnly=true' ? ['read_file'] : ['read_file', 'wipe', 'ping'])
      expect(listedTokens).toBeGreaterThan(0)
      expect(allTokens).toBeGreaterThan(0)
    },
  )

  test('depends on its principal', async () => {
    const toolbox = hub({
      permit: (principal, { name }) => name !== 'wipe' || principal?.id === 'ann',
      exposure: (principal) => (principal?.id === 'ann' ? 'search' : 'everything'),
    })
    const [anns, bobs, anonymous] = await Promise.all(
      [{ id: 'ann' }, { id: 'bob' }, undefined].map((principal) => toolbox.preview({ era, principal })),
    )
    expect(anns).toMatchObject({ exposure: 'search', reason: '"search" was requested or declared' })
    expect(names(anns?.all ?? [])).toContain('wipe')
    for (const other of [bobs, anonymous]) expect(names(other?.listed ?? [])).toEqual(['read_file', 'ping'])
  })

  test('includes the measured reason for the exposure', async () => {
    const { exposure, reason, allTokens } = await hub({ exposure: { mode: 'auto', budgetTokens: 1 } }).preview({ era })
    expect(exposure).toBe('search')
    expect(reason).toBe(`the full list costs about ${allTokens} tokens and the budget is 1`)
  })

  test('leaves no scope behind, notifies no client, and changes nothing for connected clients', async () => {
    const toolbox = hub()
    await using client = await testContext(toolbox, { era })
    const before = client.tools()
    const open = runtimeOf(toolbox).scopes.keys
    for (let round = 0; round < 3; round++) await toolbox.preview({ era, view: 'groups=files' })
    expect(runtimeOf(toolbox).scopes.keys).toEqual(open)
    await expect(toolbox.preview({ era, view: 'groups=nonsense' })).rejects.toMatchObject({ reason: 'invalid_view' })
    expect(runtimeOf(toolbox).scopes.keys).toEqual(open)
    expect(client.listChanges).toBe(0)
    expect(client.tools()).toEqual(before)
  })
})

test('resources prepared by hooks for a preview are released with it, and the next session of the principal is not affected', async () => {
  const ran: string[] = []
  const toolbox = defineToolbox({
    name: 'hub',
    version: '1.0.0',
    remember: 'reconnect',
    groups: {
      db: {
        description: 'Database',
        default: true,
        hooks: { activate: () => void ran.push('on'), deactivate: () => void ran.push('off') },
      },
      files: { description: 'Files' },
    },
  })
    .tool('query', { group: 'db' }, () => '')
    .tool('read_file', { group: 'files' }, () => '')
  const principal: Principal = { id: 'ann' }
  const first = await testContext(toolbox, { principal })
  await first.call('activate_files')
  await first.close()
  ran.length = 0
  const { listed } = await toolbox.preview({ principal })
  expect(ran).toEqual(['on', 'off'])
  expect(names(listed)).toContain('read_file')
  await using next = await testContext(toolbox, { principal })
  expect(next.toolNames()).toEqual(names(listed))
})
