import { type TestTransport, testTransports } from '@unfold-mcp/server/testing'
import { expect, test } from 'vitest'
import { type RequirementId, requirements } from '../../../test/requirements.ts'
import { describeInChromium, until } from './chromium.ts'
import { countsOf, type Modes, metaOf, modesOf, textOf } from './replies.ts'
import { serving } from './served.ts'

const first = ['observe', 'query_dom']
const all = ['observe', 'query_dom', 'analyze', 'generate', 'configure']
const configureModes = ['health', 'buffers', 'filters', 'redaction', 'clear', 'save', 'load']

/** The modes that each tool gained. */
function gained(before: Modes, after: Modes): Modes {
  const news = Object.entries(after).map(
    ([tool, modes = []]) => [tool, modes.filter((mode) => !before[tool]?.includes(mode))] as const,
  )
  return Object.fromEntries(news.filter(([, modes]) => modes.length > 0))
}

describeInChromium('the specified scenarios, on a real page', () => {
  const served = serving()
  const { calm, connect, observing } = served
  const facts = () => served.watch.recording.facts.read()

  /** Fetches something `times` times, and waits until it is recorded. */
  const fetching = async (times: number): Promise<void> => {
    const { network } = facts()
    await served.watch.page.evaluate(async (count) => {
      for (let i = 0; i < count; i++) await (await fetch('/api/items')).text()
    }, times)
    await until('the requests are recorded', () => facts().network === network + times)
  }
  const clicking = async (times: number): Promise<void> => {
    const { actions } = facts()
    for (let i = 0; i < times; i++) await served.watch.page.locator('h1').click()
    await until('the clicks are recorded', () => facts().actions === actions + times)
  }

  /** Verifies a requirement of the library again, with the complete server and a real page, on each transport that it applies to. */
  function verifies(id: RequirementId, body: (testTransport: TestTransport) => Promise<void>): void {
    const { behaviour, transports } = requirements.find((each) => each.id === id) ?? {
      behaviour: '',
      transports: 'none',
    }
    const wanted = testTransports.filter(({ era }) => transports === 'every' || transports === era)
    if (wanted.length === 0) throw new Error(`${id} has no transport.`)
    test.each(wanted)(`${id} ${behaviour} · $transport, $era`, body)
  }

  verifies('S01', async (testTransport) => {
    await calm()
    expect(await modesOf(await connect(testTransport))).toEqual({ observe: ['errors', 'logs', 'page'], query_dom: undefined })
  })

  verifies('S32', async (testTransport) => {
    await calm()
    const server = await served.serve(testTransport)
    for (const host of [
      { view: 'host=codex' },
      ...(testTransport.era === 'session' ? [{ name: 'gemini-cli-mcp-client' }] : []),
    ]) {
      const client = await server.connect(host)
      const before = await modesOf(client)
      expect(before).toEqual({
        observe: ['errors', 'logs', 'network', 'websocket_events', 'websocket_status', 'actions', 'vitals', 'page'],
        query_dom: undefined,
        analyze: ['performance', 'api', 'accessibility', 'changes', 'timeline'],
        generate: ['reproduction', 'test', 'pr_summary', 'sarif', 'har'],
        configure: configureModes,
      })
      expect(textOf(await client.call('generate', { format: 'har' }))).toContain('has no data now. No requests yet')
      await fetching(1)
      expect(textOf(await client.call('observe', { what: 'network' }))).toContain('/api/items')
      expect(await modesOf(client)).toEqual(before)
      served.watch.recording.clear()
    }
    expect((await modesOf(await server.connect())).observe).toEqual(['errors', 'logs', 'page'])
  })

  verifies('S02', async (testTransport) => {
    await calm()
    const client = await connect(testTransport)
    await fetching(2)
    expect(await modesOf(client)).toEqual({ observe: ['errors', 'logs', 'network', 'page'], query_dom: undefined })
    await client.call('observe', { what: 'network' })
    expect((await modesOf(client)).generate).toEqual(['pr_summary', 'sarif', 'har'])
  })

  verifies('S03', async (testTransport) => {
    await calm()
    const client = await connect(testTransport)
    const reply = textOf(await client.call('observe', { what: 'logs' }))
    for (const tool of ['analyze', 'generate', 'configure']) expect(reply).toContain(`- ${tool}(`)
    await client.waitForListChanges(1)
    expect(await client.toolNames()).toEqual(all)
  })

  verifies('S04', async (testTransport) => {
    await calm()
    const client = await observing(testTransport)
    const before = await modesOf(client)
    await clicking(1)
    expect(gained(before, await modesOf(client))).toEqual({
      observe: ['actions'],
      analyze: ['changes', 'timeline'],
      generate: ['reproduction', 'test', 'pr_summary'],
    })
  })

  verifies('S05', async (testTransport) => {
    await calm()
    const client = await observing(testTransport)
    const before = await modesOf(client)
    await served.measure()
    expect(gained(before, await modesOf(client))).toEqual({
      observe: ['vitals'],
      analyze: ['performance', 'changes'],
      generate: ['pr_summary'],
    })
  })

  verifies('S06', async (testTransport) => {
    await calm()
    const client = await observing(testTransport)
    expect((await modesOf(client)).configure).toEqual(configureModes)
    await fetching(1)
    await clicking(1)
    expect((await modesOf(client)).configure).toEqual(configureModes)
  })

  verifies('S07', async (testTransport) => {
    await calm()
    const client = await observing(testTransport)
    expect((await countsOf(client)).observe).toEqual({ errors: 0, logs: 0 })
    await served.watch.page.evaluate(() => {
      for (let i = 0; i < 3; i++) console.error('an error')
      for (let i = 0; i < 44; i++) console.log('a line')
    })
    await fetching(12)
    await clicking(8)
    await until('the lines are recorded', () => facts().logs === 47)
    // The specified example, with the mode that is always available.
    expect((await metaOf(client)).observe).toEqual({
      available_modes: ['errors', 'logs', 'network', 'actions', 'page'],
      data_counts: { errors: 3, logs: 47, network: 12, actions: 8 },
    })
    await served.watch.page.evaluate(() => console.error('one more'))
    await until('one more is recorded', () => facts().logs === 48)
    expect((await countsOf(client)).observe).toEqual({ errors: 4, logs: 48, network: 12, actions: 8 })
  })

  verifies('S08', async (testTransport) => {
    await calm()
    const client = await connect(testTransport)
    await fetching(1)
    const { observe } = await modesOf(client)
    expect(observe).toContain('network')
    expect(observe).not.toContain('actions')
  })

  verifies('S10', async (testTransport) => {
    await calm()
    await fetching(1)
    await clicking(1)
    const client = await connect(testTransport)
    await client.call('query_dom', { selector: 'h1' })
    expect(await client.toolNames()).toEqual(first)
    await expect(client.call('generate', { format: 'har' })).resolves.toMatchObject({ isError: true })
    expect(await client.toolNames()).toEqual(first)
  })

  verifies('S11', async (testTransport) => {
    await calm()
    const client = await connect(testTransport)
    for (const args of [{ what: 'page', tab: 'tab-99' }, { what: 'network' }, { what: 'errors', since: 'yore' }, {}]) {
      expect((await client.call('observe', args)).isError).toBe(true)
      expect(await client.toolNames()).toEqual(first)
    }
  })

  verifies('S19', async (testTransport) => {
    await calm()
    const server = await served.serve(testTransport)
    const [one, other] = [await server.connect(), await server.connect()]
    await one.call('observe', { what: 'logs' })
    await one.waitForListChanges(1)
    expect(await one.toolNames()).toEqual(all)
    expect(await other.toolNames()).toEqual(first)
    await fetching(3)
    expect((await countsOf(one)).observe).toEqual((await countsOf(other)).observe)
    await Promise.all([other.call('observe', { what: 'network' }), one.call('analyze', { target: 'accessibility' })])
    expect(await modesOf(other)).toEqual(await modesOf(one))
  })

  verifies('S25', async (testTransport) => {
    await calm()
    const client = await observing(testTransport)
    await client.settle()
    const before = client.listChanges
    await fetching(1)
    await client.waitForListChanges(before + 1)
    await fetching(20)
    await client.settle()
    expect(client.listChanges).toBe(before + 1)
  })

  verifies('S27', async (testTransport) => {
    await calm()
    const client = await connect(testTransport)
    const before = await client.tools()
    expect(before.map(({ name }) => name)).toEqual(all)
    const advised = before.filter(({ description = '' }) => description.endsWith('Call observe first.')).map(({ name }) => name)
    expect(advised).toEqual(['analyze', 'generate', 'configure'])
    await client.call('observe', { what: 'page' })
    expect(await client.tools()).toEqual(before)
  })
})
