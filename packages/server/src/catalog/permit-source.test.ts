import type { Tool } from '@unfold-mcp/core'
import { describe, expect, test } from 'vitest'
import { ToolRegistry } from '../registry.ts'
import { testContext } from '../testing/index.ts'
import type { Principal } from '../tool/principal.ts'
import type { Report } from '../tool/report.ts'
import { defineToolbox } from '../toolbox.ts'
import type { PermitSource, Place } from './permissions.ts'

const [ann, bob]: readonly [Principal, Principal] = [{ id: 'ann' }, { id: 'bob' }]

/** Permissions as a table that can be changed, with a count of its evaluations. */
class Table implements PermitSource {
  readonly asked: string[] = []
  readonly places: Place[] = []
  #rights: { readonly [principal: string]: readonly string[] }

  constructor(rights: { readonly [principal: string]: readonly string[] }) {
    this.#rights = rights
  }

  set(rights: { readonly [principal: string]: readonly string[] }): void {
    this.#rights = rights
  }

  version(): unknown {
    return this.#rights
  }

  permits(principal: Principal | undefined, { name }: Tool, place: Place): boolean {
    const who = principal?.id ?? 'nobody'
    this.asked.push(`${who} ${name}`)
    this.places.push(place)
    if (name === 'broken') throw new Error('The table is broken.')
    return this.#rights[who]?.includes(name) === true
  }

  /** The evaluations since the last call. */
  taken(): readonly string[] {
    return this.asked.splice(0).toSorted()
  }
}

const reports: Report[] = []
const box = (table: Table) =>
  defineToolbox({ name: 'box', version: '1.0.0', permit: table, report: (report) => void reports.push(report) })
    .tool('read', {}, () => 'read')
    .tool('write', {}, () => 'written')

describe('permissions with change notifications', () => {
  test('are evaluated once per principal, however often it lists and calls, and again after a change', async () => {
    const table = new Table({ ann: ['read', 'write'], bob: ['read'] })
    const toolbox = box(table)
    await using anns = await testContext(toolbox, { principal: ann })
    await using bobs = await testContext(toolbox, { principal: bob })
    await using anonymous = await testContext(toolbox)
    for (let round = 0; round < 3; round++) {
      expect([anns, bobs, anonymous].map((client) => client.toolNames())).toEqual([['read', 'write'], ['read'], []])
      await anns.call('write')
    }
    expect(table.taken()).toEqual(['ann read', 'ann write', 'bob read', 'bob write', 'nobody read', 'nobody write'])
    table.set({ ann: ['read'], bob: ['read', 'write'] })
    expect([anns, bobs, anonymous].map((client) => client.toolNames())).toEqual([['read'], ['read', 'write'], []])
    await expect(anns.call('write')).rejects.toMatchObject({ reason: 'unknown_tool' })
    expect(table.taken()).toHaveLength(6)
  })

  test('notify only clients whose list they change', async () => {
    const table = new Table({ ann: ['read'], bob: ['read'] })
    const toolbox = box(table)
    await using anns = await testContext(toolbox, { principal: ann })
    await using bobs = await testContext(toolbox, { principal: bob })
    table.set({ ann: ['read', 'write'], bob: ['read'] })
    toolbox.toolListChanged()
    await expect.poll(() => anns.listChanges).toBe(1)
    expect(bobs.listChanges).toBe(0)
  })

  test('are evaluated again when the tools change', async () => {
    const table = new Table({ ann: ['read', 'extra'] })
    const registry = new ToolRegistry({ name: 'plugin' })
    await using anns = await testContext(box(table).use(registry), { principal: ann })
    expect(anns.toolNames()).toEqual(['read'])
    registry.register('extra', { description: 'More' }, () => '')
    expect(anns.toolNames()).toEqual(['read', 'extra'])
  })

  test('that throw deny access, and are reported', async () => {
    const table = new Table({ ann: ['read', 'broken'] })
    const toolbox = box(table).tool('broken', {}, () => '')
    reports.length = 0
    await using anns = await testContext(toolbox, { principal: ann })
    expect(anns.toolNames()).toEqual(['read'])
    expect(new Set(reports.map(({ reason }) => reason))).toEqual(new Set(['permission_check_failed']))
  })
})

test('a permission can depend on the source of a tool', async () => {
  const table = new Table({ nobody: ['read', 'write', 'extra'] })
  const registry = new ToolRegistry({ name: 'plugin' })
  registry.register('extra', { description: 'More', tags: ['new'] }, () => '')
  const toolbox = box(table).use(registry)
  await using client = await testContext(toolbox)
  expect(client.toolNames()).toEqual(['read', 'write', 'extra'])
  expect(table.places.map(({ source, group, tags }) => [source, group, tags])).toEqual([
    ['box', undefined, []],
    ['box', undefined, []],
    ['plugin', undefined, ['new']],
  ])
})
