import { McpServer } from '@modelcontextprotocol/server'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { adopt, defineToolbox, type FactSource, LiveFacts } from '../index.ts'
import { type TestContext, testContext } from '../testing/index.ts'
import type { Report } from '../tool/report.ts'

const info = { name: 'browser', version: '1.0.0' }

const modesOf = (client: TestContext): unknown => client.tools().find(({ name }) => name === 'observe')?._meta?.available_modes

/** `observe` and `replay` with these facts, counting the evaluations of each condition. */
function asking(facts: FactSource<{ logs: number; network: number }>, report: (report: Report) => void = () => undefined) {
  const asked = { logs: 0, network: 0, replay: 0, outside: 0 }
  const catalogState = { isOpen: true }
  const toolbox = defineToolbox({ ...info, facts, report })
    .composite(
      'observe',
      {
        by: 'what',
        modes: {
          page: { description: 'Page', count: () => 1 },
          logs: {
            description: 'Logs',
            available: ({ facts: { logs } }) => {
              asked.logs++
              return logs > 0
            },
          },
          network: {
            description: 'Requests',
            available: ({ facts: now }) => {
              asked.network++
              return now.network > 0 && catalogState.isOpen
            },
          },
          outside: {
            description: 'Outside',
            available: () => {
              asked.outside++
              return catalogState.isOpen
            },
          },
        },
      },
      { page: () => '', logs: () => '', network: () => '', outside: () => '' },
    )
    .tool(
      'replay',
      {
        when: ({ facts: now }) => {
          asked.replay++
          return now.logs > 1
        },
      },
      () => '',
    )
  return { toolbox, asked, catalogState }
}

describe('conditions over live facts', () => {
  test('are evaluated again, for all clients together, only if a fact that they read changed', async () => {
    const facts = new LiveFacts({ logs: 0, network: 0 })
    const { toolbox, asked } = asking(facts)
    await using one = await testContext(toolbox)
    await using other = await testContext(toolbox, { era: 'stateless' })
    const list = () => [one, other, one, other].map((client) => modesOf(client))
    list()
    expect(asked).toMatchObject({ logs: 1, network: 1, replay: 1 })
    facts.set({ network: 3 })
    expect(list()[0]).toEqual(['page', 'network', 'outside'])
    expect(asked).toMatchObject({ logs: 1, network: 2, replay: 1 })
    facts.set({ logs: 2 })
    expect(list()[3]).toEqual(['page', 'logs', 'network', 'outside'])
    expect(one.toolNames()).toContain('replay')
    expect(asked).toMatchObject({ logs: 2, network: 2, replay: 2 })
  })

  test('that read no fact are evaluated for every list', async () => {
    const { toolbox, asked, catalogState } = asking(new LiveFacts({ logs: 0, network: 0 }))
    await using client = await testContext(toolbox)
    modesOf(client)
    const before = asked.outside
    catalogState.isOpen = false
    expect(modesOf(client)).toEqual(['page'])
    expect(asked.outside).toBeGreaterThan(before)
  })

  test('are evaluated again after toolListChanged, because they may read unversioned data', async () => {
    const facts = new LiveFacts({ logs: 0, network: 1 })
    const { toolbox, catalogState } = asking(facts)
    await using client = await testContext(toolbox)
    expect(modesOf(client)).toEqual(['page', 'network', 'outside'])
    catalogState.isOpen = false
    expect(modesOf(client)).toEqual(['page', 'network'])
    toolbox.toolListChanged()
    expect(modesOf(client)).toEqual(['page'])
    await expect.poll(() => client.listChanges).toBe(1)
  })
})

test('facts that cannot be read are reported, and results from that time are discarded', async () => {
  const live = new LiveFacts({ logs: 1, network: 1 })
  const state = { isBroken: false }
  const facts: FactSource<{ logs: number; network: number }> = {
    get version() {
      return live.version
    },
    versionOf: (name) => live.versionOf(name),
    subscribe: (changed) => live.subscribe(changed),
    read() {
      if (state.isBroken) throw new Error('the disk is gone')
      return live.read()
    },
  }
  const reports: Report[] = []
  const { toolbox } = asking(facts, (report) => void reports.push(report))
  await using client = await testContext(toolbox)
  state.isBroken = true
  expect(modesOf(client)).toEqual(['page', 'outside'])
  expect(reports[0]).toMatchObject({ reason: 'predicate_failed', message: expect.stringContaining('facts') as string })
  state.isBroken = false
  expect(modesOf(client)).toEqual(['page', 'logs', 'network', 'outside'])
})

test('tools of an adopted server can have requirements as well', async () => {
  const made = () => {
    const server = new McpServer({ name: 'desk', version: '1.0.0' })
    server.registerTool('look', { inputSchema: z.object({}) }, () => ({ content: [{ type: 'text', text: 'seen' }] }))
    server.registerTool('write', { inputSchema: z.object({}) }, () => ({ content: [{ type: 'text', text: 'written' }] }))
    return server
  }
  const adopted = adopt(made, { after: 'look' })
  await using client = await testContext(adopted)
  expect(client.toolNames()).toEqual(['look'])
  await client.call('look')
  expect(client.toolNames()).toEqual(['look', 'write'])
  await expect(testContext(adopt(made, { after: 'lok', report: () => undefined }))).rejects.toThrow('Nearest: look')
})
