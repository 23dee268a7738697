import { expect, test } from 'vitest'
import { ToolRegistry } from '../../registry.ts'
import { testContext } from '../../testing/index.ts'
import type { Report } from '../../tool/report.ts'
import { defineToolbox } from '../../toolbox.ts'

function hub() {
  const reports: Report[] = []
  return { reports, toolbox: defineToolbox({ name: 'hub', version: '1.0.0', report: (report) => void reports.push(report) }) }
}

test('a failure for the author that is thrown in a call fails that call, and is never sent as a protocol error', async () => {
  const { reports, toolbox } = hub()
  const plugins = new ToolRegistry()
  toolbox.use(plugins).tool('load', {}, () => {
    plugins.register('extra', {}, () => 'more')
  })
  await using client = await testContext(toolbox)
  await client.call('load')
  expect(await client.call('load')).toMatchObject({ isError: true, _meta: { 'io.github.unfold-mcp/reason': 'tool_failed' } })
  expect(reports.map(({ reason }) => reason)).toEqual(['tool_failed'])
})

test('a failure that only the author can fix is reported to the author', async () => {
  const { reports, toolbox } = hub()
  toolbox.tool('count', {}, () => new Map())
  await using client = await testContext(toolbox)
  expect(await client.call('count')).toMatchObject({ isError: true })
  expect(reports.map(({ reason }) => reason)).toEqual(['invalid_result'])
})
