import type { CallToolResult } from '@modelcontextprotocol/server'
import type { Tool } from '@unfold-mcp/core'
import { describe, expect, test, vi } from 'vitest'
import { defineToolbox, LiveFacts, type ToolboxOptions, ToolError, ToolRegistry } from '../index.ts'
import { callTool } from '../operations/calling/call-tool.ts'
import { instructionsFor } from '../operations/instructions.ts'
import { runtimeOf } from '../runtime/servable.ts'
import { type TestContext, testContext } from '../testing/index.ts'
import type { Report } from '../tool/report.ts'

const info = { name: 'browser', version: '1.0.0' }
type Options = Omit<ToolboxOptions<unknown>, 'name' | 'version' | 'groups'>

const textOf = ({ content }: CallToolResult): string =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
const reasonOf = ({ isError, _meta }: CallToolResult): unknown => isError === true && _meta?.['io.github.unfold-mcp/reason']

/** `analyze` and `configure` require `observe`, which fails while there is no page. */
function watching(options: Options = {}, { hasPage = true }: { hasPage?: boolean } = {}) {
  const page = { isOpen: hasPage }
  const toolbox = defineToolbox({ ...info, ...options })
    .tool('observe', { description: 'Look', after: false, readOnly: true }, () => {
      if (!page.isOpen) throw new ToolError('There is no page.')
      return 'seen'
    })
    .tool('query', { description: 'Query', after: false }, () => 'found')
    .tool('analyze', { description: 'Analyze', after: 'observe', readOnly: true }, () => 'analysed')
    .tool('configure', { description: 'Configure', after: 'observe' }, () => 'configured')
  return { toolbox, page }
}

const all = ['observe', 'query', 'analyze', 'configure']
const first = ['observe', 'query']

describe('tools that require another', () => {
  test('are listed after its first success, and the reply names them', async () => {
    await using client = await testContext(watching().toolbox)
    expect(client.toolNames()).toEqual(first)
    expect(textOf(await client.call('observe'))).toBe(
      ['seen', '2 tools are now available:', '- analyze() — Analyze', '- configure() — Configure', 'Call them by name.'].join(
        '\n',
      ),
    )
    expect(client.toolNames()).toEqual(all)
    expect(client.listChanges).toBe(1)
    expect(textOf(await client.call('observe'))).toBe('seen')
    expect(client.listChanges).toBe(1)
  })

  test('are not revealed by a list request, a failed call, or the success of another tool', async () => {
    const { toolbox, page } = watching({}, { hasPage: false })
    await using client = await testContext(toolbox)
    for (let round = 0; round < 3; round++) client.list()
    await client.call('query')
    expect(reasonOf(await client.call('observe'))).toBe('tool_failed')
    expect(client.toolNames()).toEqual(first)
    expect(client.listChanges).toBe(0)
    page.isOpen = true
    await client.call('observe')
    expect(client.toolNames()).toEqual(all)
  })

  test('are not revealed by a call with invalid arguments, or with a result that cannot be sent', async () => {
    const toolbox = defineToolbox({ ...info, report: () => undefined })
      .tool(
        'observe',
        { inputSchema: { type: 'object', properties: { what: { type: 'string' } }, required: ['what'] }, after: false },
        ({ what }) => (what === 'nonsense' ? new Map() : what),
      )
      .tool('analyze', { after: 'observe' }, () => '')
    await using client = await testContext(toolbox)
    expect(reasonOf(await client.call('observe', {}))).toBe('invalid_arguments')
    expect(reasonOf(await client.call('observe', { what: 'nonsense' }))).toBe('invalid_result')
    expect(client.toolNames()).toEqual(['observe'])
    await client.call('observe', { what: 'logs' })
    expect(client.toolNames()).toEqual(['observe', 'analyze'])
  })

  test('are not revealed by a result with isError', async () => {
    const toolbox = defineToolbox(info)
      .tool('observe', { after: false }, () => ({ content: [{ type: 'text', text: 'No page.' }], isError: true }))
      .tool('analyze', { after: 'observe' }, () => '')
    await using client = await testContext(toolbox)
    expect((await client.call('observe')).isError).toBe(true)
    expect(client.toolNames()).toEqual(['observe'])
  })

  test('are not revealed by a call that only elicited input', async () => {
    const toolbox = defineToolbox(info)
      .tool('observe', { after: false }, () => ({ resultType: 'input_required' as const, inputRequests: {} }))
      .tool('analyze', { after: 'observe' }, () => '')
    await using client = await testContext(toolbox)
    await client.call('observe')
    expect(client.toolNames()).toEqual(['observe'])
  })

  test('are not revealed by a mode without data', async () => {
    const facts = new LiveFacts({ logs: 0 })
    const toolbox = defineToolbox({ ...info, facts, after: 'observe' })
      .composite(
        'observe',
        { by: 'what', policy: 'static', modes: { logs: { description: 'Logs', available: (now) => now.facts.logs > 0 } } },
        { logs: () => 'logs' },
      )
      .tool('analyze', {}, () => '')
    await using client = await testContext(toolbox)
    expect(reasonOf(await client.call('observe', { what: 'logs' }))).toBe('mode_unavailable')
    expect(client.toolNames()).toEqual(['observe'])
    facts.set({ logs: 1 })
    await client.call('observe', { what: 'logs' })
    expect(client.toolNames()).toEqual(['observe', 'analyze'])
  })

  test('are revealed per session', async () => {
    const { toolbox } = watching()
    await using one = await testContext(toolbox)
    await using other = await testContext(toolbox)
    await one.call('observe')
    expect(other.toolNames()).toEqual(first)
    expect(other.listChanges).toBe(0)
    await using later = await testContext(toolbox)
    expect(later.toolNames()).toEqual(first)
  })

  test('are hidden again after a restart, and when a principal reconnects', async () => {
    for (const remember of ['session', 'reconnect', 'principal'] as const) {
      const options = { principal: { id: 'ada' } }
      const { toolbox } = watching({ remember })
      const before = await testContext(toolbox, options)
      await before.call('observe')
      expect(before.toolNames()).toEqual(all)
      await before.close()
      await using again = await testContext(toolbox, options)
      expect(again.toolNames()).toEqual(first)
      await using restarted = await testContext(watching({ remember }).toolbox, options)
      expect(restarted.toolNames()).toEqual(first)
    }
  })

  test('are revealed by a call through call_tool, and by an alias', async () => {
    const { toolbox } = watching()
    await using client = await testContext(toolbox)
    expect(textOf(await client.call('call_tool', { name: 'observe' }))).toContain('2 tools are now available')
    expect(client.toolNames()).toEqual(all)
    const renamed = defineToolbox(info)
      .tool('observe', { after: false, aliases: ['look'] }, () => 'seen')
      .tool('analyze', { after: 'observe' }, () => '')
    await using other = await testContext(renamed)
    await other.call('look')
    expect(other.toolNames()).toEqual(['observe', 'analyze'])
  })

  test('are revealed one after another if each requires the previous one', async () => {
    const toolbox = defineToolbox(info)
      .tool('open', {}, () => '')
      .tool('read', { after: 'open' }, () => '')
      .tool('sign', { after: 'read' }, () => '')
    await using client = await testContext(toolbox)
    expect(client.toolNames()).toEqual(['open'])
    await client.call('open')
    expect(client.toolNames()).toEqual(['open', 'read'])
    await client.call('read')
    expect(client.toolNames()).toEqual(['open', 'read', 'sign'])
    expect(client.listChanges).toBe(2)
  })

  test('in a group are listed when it is active and the required tool has succeeded, in either order', async () => {
    const box = () =>
      defineToolbox({ ...info, groups: { deep: { description: 'Deep' } } })
        .tool('observe', { after: false }, () => 'seen')
        .tool('dig', { group: 'deep', after: 'observe' }, () => 'dug')
    for (const calls of [
      ['observe', 'activate_deep'],
      ['activate_deep', 'observe'],
    ]) {
      await using client = await testContext(box())
      await client.call(calls[0] ?? '')
      expect(client.toolNames()).not.toContain('dig')
      await client.call(calls[1] ?? '')
      expect(client.toolNames()).toContain('dig')
    }
  })

  test('are announced once if two calls succeed at the same time', async () => {
    await using client = await testContext(watching().toolbox)
    await Promise.all([client.call('observe'), client.call('observe')])
    expect(client.toolNames()).toEqual(all)
    expect(client.listChanges).toBe(1)
  })
})

describe('a call of a tool before its required tool', () => {
  test('is answered as if the tool did not exist, by default', async () => {
    await using client = await testContext(watching().toolbox)
    const failure = (name: string): Promise<string> => client.call(name).then(textOf, String)
    expect(await failure('analyze')).toBe((await failure('nothing')).replace('nothing', 'analyze'))
  })

  test('is answered with the tool to call first, if hints are enabled', async () => {
    await using client = await testContext(watching({ hiddenCalls: 'hint' }).toolbox)
    const refused = await client.call('analyze')
    expect(reasonOf(refused)).toBe('requires_activation')
    expect(textOf(refused)).toBe("Tool 'analyze' can be called after 'observe'. Call 'observe' first.")
    await client.call('observe')
    expect(textOf(await client.call('analyze'))).toBe('analysed')
  })

  test('runs if hidden calls reveal tools, and reveals no other tools', async () => {
    await using client = await testContext(watching({ hiddenCalls: 'reveal' }).toolbox)
    expect(textOf(await client.call('analyze'))).toBe('analysed')
    expect(client.toolNames()).toEqual(first)
  })

  test('of a tool that is also in a group is answered with the required tool first', async () => {
    const toolbox = defineToolbox({ ...info, hiddenCalls: 'hint', groups: { deep: { description: 'Deep' } } })
      .tool('observe', { after: false }, () => 'seen')
      .tool('dig', { group: 'deep', after: 'observe' }, () => 'dug')
    await using client = await testContext(toolbox)
    expect(textOf(await client.call('dig'))).toContain("Call 'observe' first.")
    await client.call('observe')
    expect(textOf(await client.call('dig'))).toContain("Call 'activate_deep' first.")
  })

  test('works through call_tool, like calls of any hidden tool', async () => {
    await using client = await testContext(watching({ hiddenCalls: 'hint' }).toolbox)
    expect(textOf(await client.call('call_tool', { name: 'analyze' }))).toBe('analysed')
    expect(textOf(await client.call('search_tools', { query: 'analyze' }))).toContain('- analyze()')
  })

  test('is answered like one of an unknown tool by call_tool and search_tools too, with the policy opaque', async () => {
    await using client = await testContext(watching().toolbox)
    expect(textOf(await client.call('call_tool', { name: 'analyze' }))).toContain('Unknown tool "analyze".')
    expect(textOf(await client.call('search_tools', { query: 'analyze' }))).not.toContain('- analyze()')
    await client.call('observe')
    expect(textOf(await client.call('call_tool', { name: 'analyze' }))).toBe('analysed')
  })
})

describe('a client that does not re-list', () => {
  test('learns of call_tool with the next revealed tools, and then sees every tool', async () => {
    let now = 0
    const toolbox = defineToolbox({ ...info, now: () => now })
      .tool('open', {}, () => '')
      .tool('read', { after: 'open', description: 'Read' }, () => 'text')
      .tool('sign', { after: 'read', description: 'Sign' }, () => 'signed')
    await using client = await testContext(toolbox)
    expect(textOf(await client.call('open'))).not.toContain('call_tool')
    now = 5_000
    const reply = textOf(await client.call('read'))
    expect(reply).toContain('- sign() — Sign')
    expect(reply).toContain('Call them with call_tool(name, arguments)')
    expect(client.toolNames()).toEqual(['open', 'read', 'sign'])
    expect(textOf(await client.call('call_tool', { name: 'sign' }))).toBe('signed')
    client.list()
    expect(client.toolNames()).toEqual(['open', 'read', 'sign'])
  })

  /** `look` has modes that need data; all modes of `report` need data, and it requires `look`. */
  const greenhouse = (options: { readonly now?: () => number } = {}) => {
    const facts = new LiveFacts({ alarms: 0 })
    const count = (at: { readonly facts: { readonly alarms: number } }): number => at.facts.alarms
    const toolbox = defineToolbox({ ...info, ...options, facts, protocol: { notifyIntervalMs: 1 } })
      .composite(
        'look',
        {
          description: 'Look',
          after: false,
          by: 'at',
          modes: { weather: { description: 'Outside' }, alarms: { description: 'Alarms', count } },
        },
        { weather: () => 'Sunny.', alarms: () => 'Too hot.' },
      )
      .composite(
        'report',
        {
          description: 'Report',
          after: 'look',
          by: 'as',
          modes: { csv: { description: 'A table', count, whenEmpty: 'Wait for the sun.' } },
        },
        { csv: () => '38' },
      )
    return { facts, toolbox }
  }
  const modesIn = ({ inputSchema }: Tool, by: string): unknown =>
    (inputSchema.properties as { readonly [name: string]: { readonly enum?: unknown } })[by]?.enum

  for (const era of ['session', 'stateless'] as const) {
    const where = era === 'session' ? 'in a session' : 'on 2026-07-28'

    test(`sees every tool with all its modes, each with what to do first, ${where}`, async () => {
      const { facts, toolbox } = greenhouse()
      const runtime = runtimeOf(toolbox)
      const scope = await runtime.scopes.open({ key: 'a', era, principal: undefined })
      scope.neverRelists = true
      const listed = () => runtime.views.withCounts(scope).tools
      const [look, report, ...others] = listed()
      expect(others).toEqual([])
      expect([look?.name, look?.description]).toEqual(['look', 'Look. A mode without data replies with how to get some.'])
      expect(report?.description).toBe('Report. A mode without data replies with how to get some. Call look first.')
      expect(look && modesIn(look, 'at')).toEqual(['weather', 'alarms'])
      expect(report && modesIn(report, 'as')).toEqual(['csv'])
      expect(report?._meta).toEqual({ available_modes: [], data_counts: { csv: 0 }, hint: 'No data yet: csv. Wait for the sun.' })
      const { fingerprint, bytes } = runtime.views.rendered(scope)
      facts.set({ alarms: 2 })
      // The listed definitions stay the same; only the counts are current.
      expect(runtime.views.rendered(scope)).toMatchObject({ fingerprint, bytes })
      expect(listed()[1]?._meta).toEqual({ available_modes: ['csv'], data_counts: { csv: 2 } })
      await toolbox.close()
    })

    test(`can call all of them at once, and gets instructions for modes without data, ${where}`, async () => {
      const { facts, toolbox } = greenhouse()
      const runtime = runtimeOf(toolbox)
      const scope = await runtime.scopes.open({ key: 'a', era, principal: undefined })
      scope.neverRelists = true
      const call = async () => (await callTool(runtime, scope, { name: 'report', arguments: { as: 'csv' } })) as CallToolResult
      const refused = await call()
      expect([reasonOf(refused), textOf(refused)]).toEqual([
        'mode_unavailable',
        'report(as: "csv") has no data now. Wait for the sun. No mode has data now.',
      ])
      facts.set({ alarms: 1 })
      expect(textOf(await call())).toBe('38')
      await toolbox.close()
    })
  }

  test('gets no instruction to start with a required tool', async () => {
    const { toolbox } = watching({ description: 'Watches a page' })
    const runtime = runtimeOf(toolbox)
    const scope = await runtime.scopes.open({ key: 'a', era: 'session', principal: undefined })
    scope.neverRelists = true
    expect(instructionsFor(runtime, scope)).toBe('Watches a page.')
    await toolbox.close()
  })

  test('is detected, learns of every tool that it does not see, and gets no further notifications', async () => {
    let now = 0
    const { facts, toolbox } = greenhouse({ now: () => now })
    await using client = await testContext(toolbox)
    client.list()
    facts.set({ alarms: 1 })
    await vi.waitFor(() => expect(client.listChanges).toBe(1), { timeout: 120_000 })
    facts.set({ alarms: 0 })
    await vi.waitFor(() => expect(client.listChanges).toBe(2), { timeout: 120_000 })
    now = 5_000
    const reply = textOf(await client.call('look', { at: 'weather' }))
    expect(reply).toContain('- report(as: "csv") — Report')
    expect(reply).toContain('call_tool(name, arguments)')
    expect(client.toolNames()).toEqual(['look', 'report'])
    const { listChanges } = client
    facts.set({ alarms: 1 })
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(client.listChanges).toBe(listChanges)
    expect(textOf(await client.call('look', { at: 'weather' }))).toBe('Sunny.')
  })

  test('also learns of revealed tools if it is detected by an activation', async () => {
    let now = 0
    const toolbox = defineToolbox({
      ...info,
      now: () => now,
      groups: { deep: { description: 'Deep' }, high: { description: 'High' } },
    })
      .tool('observe', { after: false }, () => 'seen')
      .tool('analyze', { description: 'Analyze', after: 'observe' }, () => 'analysed')
      .tool('dig', { group: 'deep' }, () => 'dug')
      .tool('climb', { group: 'high', description: 'Climb' }, () => 'up')
    await using client = await testContext(toolbox)
    await client.call('activate_deep')
    now = 5_000
    const reply = textOf(await client.call('activate_high'))
    expect(reply).toContain('- climb() — Climb')
    expect(reply).toContain('- analyze() — Analyze')
    expect(reply).toContain('call_tool(name, arguments)')
  })
})

describe('on 2026-07-28', () => {
  const listOf = (client: TestContext): string => JSON.stringify(client.tools())

  test('every tool is listed, with the tool to call first, and no call changes a byte of the list', async () => {
    await using client = await testContext(watching().toolbox, { era: 'stateless' })
    const before = listOf(client)
    expect(client.tools().map(({ name, description }) => [name, description])).toEqual([
      ['observe', 'Look'],
      ['query', 'Query'],
      ['analyze', 'Analyze. Call observe first.'],
      ['configure', 'Configure. Call observe first.'],
    ])
    for (const name of all) await client.call(name)
    expect(listOf(client)).toBe(before)
    expect(client.listChanges).toBe(0)
  })

  test('a tool without a description mentions it too, and any tool can be called at once', async () => {
    const toolbox = defineToolbox(info)
      .tool('observe', {}, () => '')
      .tool('analyze', { after: 'observe' }, () => 'analysed')
    await using client = await testContext(toolbox, { era: 'stateless' })
    expect(client.tools()[1]?.description).toBe('Call observe first.')
    expect(textOf(await client.call('analyze'))).toBe('analysed')
  })

  test('a search finds tools that require another, with the tool to call first', async () => {
    const { toolbox } = watching({ exposure: 'search' })
    await using client = await testContext(toolbox, { era: 'stateless' })
    expect(textOf(await client.call('search_tools', { query: 'analyze' }))).toContain('- analyze()')
    expect(textOf(await client.call('describe_tools', { names: ['analyze'] }))).toContain('Call observe first.')
  })

  test('a custom view does not hide them either', async () => {
    await using client = await testContext(watching().toolbox, { era: 'stateless', view: 'exposure=groups' })
    expect(client.toolNames()).toEqual(all)
  })
})

describe('in other exposures', () => {
  test('everything lists all tools at once', async () => {
    await using client = await testContext(watching().toolbox, { view: 'exposure=everything' })
    expect(client.toolNames()).toEqual(all)
  })

  test('lazy mode enables tools on request', async () => {
    await using client = await testContext(watching({ exposure: 'lazy' }).toolbox)
    await client.call('manage_tools', { action: 'enable', tools: 'analyze' })
    expect(client.toolNames()).toEqual(['manage_tools', 'analyze'])
  })

  test('a required tool that is not permitted is not required', async () => {
    const { toolbox } = watching({ permit: (principal, { name }) => principal?.id === 'ada' || name !== 'observe' })
    await using ada = await testContext(toolbox, { principal: { id: 'ada' } })
    await using bob = await testContext(toolbox, { principal: { id: 'bob' } })
    expect(ada.toolNames()).toEqual(first)
    expect(bob.toolNames()).toEqual(['query', 'analyze', 'configure'])
    const writing = defineToolbox(info)
      .tool('connect', { after: false }, () => '')
      .tool('read', { after: 'connect', readOnly: true }, () => '')
    await using reader = await testContext(writing, { view: 'readOnly' })
    expect(reader.toolNames()).toEqual(['read'])
  })

  test('the instructions of a session name the tool to start with', async () => {
    const { toolbox } = watching({ description: 'Watches a page' })
    const runtime = runtimeOf(toolbox)
    const session = await runtime.scopes.open({ key: 'a', era: 'session', principal: undefined })
    expect(instructionsFor(runtime, session)).toBe(
      'Watches a page.\nStart with observe: more tools are listed after it succeeds.',
    )
    const stateless = await runtime.scopes.open({ key: 'b', era: 'stateless', principal: undefined })
    expect(instructionsFor(runtime, stateless)).toBe('Watches a page.')
    await toolbox.close()
  })
})

describe('a toolbox-wide requirement', () => {
  const box = (options: Options = {}) =>
    defineToolbox({ ...info, after: 'observe', ...options })
      .tool('observe', {}, () => 'seen')
      .tool('analyze', {}, () => 'analysed')

  test('lists the required tool, and those without a requirement', async () => {
    const toolbox = box()
      .tool('query', { after: false }, () => '')
      .tool('help', { always: true }, () => '')
    await using client = await testContext(toolbox)
    expect(client.toolNames()).toEqual(['observe', 'query', 'help'])
    await client.call('observe')
    expect(client.toolNames()).toEqual(['observe', 'analyze', 'query', 'help'])
  })

  test('applies to tools of registries, before and after serving starts', async () => {
    const [early, late] = [new ToolRegistry(), new ToolRegistry()]
    early.register('early', {}, () => '')
    const toolbox = box().use(early).use(late)
    await using client = await testContext(toolbox)
    late.register('late', {}, () => '')
    expect(client.toolNames()).toEqual(['observe'])
    await client.call('observe')
    expect(client.toolNames()).toEqual(['observe', 'analyze', 'early', 'late'])
  })

  test('can name a tool of a registry, and ends when that tool is removed', async () => {
    const plugins = new ToolRegistry()
    plugins.register('connect', {}, () => '')
    const reports: Report[] = []
    const toolbox = defineToolbox({ ...info, after: 'connect', report: (report) => void reports.push(report) })
      .use(plugins)
      .tool('read', {}, () => '')
    await using client = await testContext(toolbox)
    expect(client.toolNames()).toEqual(['connect'])
    plugins.unregister('connect')
    expect(client.toolNames()).toEqual(['read'])
    expect(reports).toEqual([])
  })

  test('can be overridden by a tool', async () => {
    const toolbox = box().tool('report', { after: 'analyze' }, () => '')
    await using client = await testContext(toolbox)
    await client.call('observe')
    expect(client.toolNames()).toEqual(['observe', 'analyze'])
    await client.call('analyze')
    expect(client.toolNames()).toEqual(['observe', 'analyze', 'report'])
  })

  test('works with a gate as well', async () => {
    const toolbox = defineToolbox({ ...info, gate: 'Everything', after: 'observe' })
      .tool('observe', { always: true }, () => 'seen')
      .tool('analyze', {}, () => 'analysed')
    await using client = await testContext(toolbox)
    expect(client.toolNames()).toEqual(['activate', 'observe'])
    await client.call('activate')
    expect(client.toolNames()).toEqual(['activate', 'observe'])
    await client.call('observe')
    expect(client.toolNames()).toEqual(['activate', 'observe', 'analyze'])
  })
})

describe('an invalid requirement is rejected', () => {
  const quiet = { ...info, report: () => undefined }
  const refusal = async (toolbox: object): Promise<string> => testContext(toolbox).then(() => 'accepted', String)

  test('of an unknown tool, with the nearest names', async () => {
    const toolbox = defineToolbox(quiet)
      .tool('observe', { after: false }, () => '')
      .tool('analyze', { after: 'obsreve' }, () => '')
    expect(await refusal(toolbox)).toContain('Tool "analyze" waits for "obsreve", which does not exist. Nearest: observe.')
    const whole = defineToolbox({ ...quiet, after: 'obsreve' }).tool('observe', {}, () => '')
    expect(await refusal(whole)).toContain('Nearest: observe.')
  })

  test('of a built-in tool, which never counts as success', async () => {
    const toolbox = defineToolbox(quiet).tool('analyze', { after: 'search_tools' }, () => '')
    expect(await refusal(toolbox)).toContain('waits for "search_tools", which does not exist.')
  })

  test('of the tool itself, or a cycle', async () => {
    expect(await refusal(defineToolbox(quiet).tool('a', { after: 'a' }, () => ''))).toContain('neither would ever be listed')
    const circle = defineToolbox(quiet)
      .tool('a', { after: 'b' }, () => '')
      .tool('b', { after: 'c' }, () => '')
      .tool('c', { after: 'b' }, () => '')
    expect(await refusal(circle)).toContain('Tool "b" waits for "c", which in turn waits for it')
  })

  test('if only some tools declare one', async () => {
    const toolbox = defineToolbox(quiet)
      .tool('observe', {}, () => '')
      .tool('analyze', { after: 'observe' }, () => '')
      .tool('query', {}, () => '')
    expect(await refusal(toolbox)).toContain('Some tools have "after", and "query" has not. Give it after: false')
  })

  test('if the tool is listed from the start anyway', () => {
    const box = () => defineToolbox({ ...info, groups: { deep: { description: 'Deep' } } }).tool('observe', {}, () => '')
    expect(() => box().tool('help', { always: true, after: 'observe' }, () => '')).toThrow(
      'Tool "help" has after: "observe", but activators and tools with always: true are listed from the start.',
    )
    expect(() => box().tool('open', { activator: 'deep', after: 'observe' }, () => '')).toThrow('are listed from the start')
    expect(() => box().tool('help', { always: true, after: false }, () => '')).not.toThrow()
  })

  test('after serving has started, by keeping the previous tools and reporting it', async () => {
    const reports: Report[] = []
    const toolbox = defineToolbox({ ...info, report: (report) => void reports.push(report) })
      .tool('observe', { after: false }, () => '')
      .tool('analyze', { after: 'observe' }, () => '')
    await using client = await testContext(toolbox)
    toolbox.tool('generate', { after: 'analyse' }, () => '')
    expect(client.toolNames()).toEqual(['observe'])
    expect(reports[0]).toMatchObject({
      reason: 'invalid_declaration',
      message: expect.stringContaining('The tools stay') as string,
    })
  })
})
