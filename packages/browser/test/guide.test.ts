import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport, type Tool } from '@modelcontextprotocol/client'
import type { TestClient } from '@unfold-mcp/server/testing'
import { expect, test } from 'vitest'
import { watchPage } from '../../../docs/examples/browser.ts'
import { usage } from '../src/options.ts'
import { describeInChromium, until } from './chromium.ts'
import { modesOf, textOf } from './replies.ts'
import { serving } from './served.ts'

/** Exactly what the guide shows: `npm run fences` copies it there. */
const shows = (name: string, text: string): Promise<void> =>
  expect(text).toMatchFileSnapshot(fileURLToPath(new URL(`../../../docs/examples/output/${name}.txt`, import.meta.url)))

test('the guide shows the options of the command', async () => {
  await shows('browser-usage', `${usage}\n`)
})

describeInChromium('the guide', () => {
  const served = serving()
  const facts = () => served.watch.recording.facts.read()

  /** A list with one tool per line, with its counts. */
  const listed = async (client: TestClient): Promise<string> => {
    const modes = await modesOf(client)
    const line = ({ name, _meta }: Tool): string => {
      const counts = Object.entries((_meta?.data_counts ?? {}) as Record<string, number>).map(([mode, n]) => `${mode} ${n}`)
      return `  ${name.padEnd(10)} ${(modes[name] ?? []).join(', ')}${counts.length > 0 ? `\n             counts: ${counts.join(', ')}` : ''}`
    }
    return ['→ tools/list', ...(await client.tools()).map((tool) => line(tool).trimEnd())].join('\n')
  }

  /** A reply as received, without the URL and time. */
  const asked = async (client: TestClient, tool: string, args: Record<string, unknown>): Promise<string> => {
    const text = textOf(await client.call(tool, args))
      .replaceAll(served.site.url, 'http://localhost:5173')
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '2026-01-31T09:30:00.000Z')
      .replaceAll(/"(ms|p50|p95|max)":\d+/g, '"$1":12')
      .replaceAll(/"(seq|latest|firstSeq)":\d+/g, '"$1":7')
    const lines = text.split('\n').map((line) => `  ${line}`.trimEnd())
    return [`→ tools/call ${tool} ${JSON.stringify(args)}`, ...lines].join('\n')
  }

  test('shows how the list grows with events', async () => {
    await served.calm('/second')
    const client = await served.connect()
    const parts = [await listed(client)]
    await served.watch.page.evaluate(async () => {
      await (await fetch('/api/items/2')).text()
      await (await fetch('/api/fail')).text()
    })
    await served.watch.page.locator('h1').click()
    await until('it is recorded', () => facts().network === 2 && facts().actions === 1 && facts().logs === 1)
    parts.push('', 'The page asks its server twice, one request fails, and the person clicks:', '', await listed(client))
    parts.push(await asked(client, 'observe', { what: 'errors' }))
    await client.waitForListChanges(1)
    parts.push('← notifications/tools/list_changed', await listed(client))
    await shows('browser-session', `${parts.join('\n')}\n`)
    await shows(
      'browser-answers',
      `${[
        await asked(client, 'observe', { what: 'network', status: 'error', bodies: 'cut' }),
        await asked(client, 'analyze', { target: 'api' }),
        await asked(client, 'observe', { what: 'websocket_events' }),
      ].join('\n')}\n`,
    )
  })

  test('shows a program that works', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'unfold-guide-'))
    const watched = await watchPage(`${served.site.url}/second`, folder)
    try {
      const client = new Client({ name: 'reader', version: '1.0.0' })
      await client.connect(new StreamableHTTPClientTransport(new URL(watched.url)))
      const page = await client.callTool({ name: 'observe', arguments: { what: 'page' } })
      expect(textOf(page)).toContain('Second page')
      await client.close()
    } finally {
      await watched.close()
      await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
    }
  }, 300_000)
})
