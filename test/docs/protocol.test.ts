import { readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { connect } from '@unfold-mcp/client'
import { runningGateways } from '@unfold-mcp/gateway'
import { expect, test } from 'vitest'
import { workbench } from '../../docs/examples/dynamic-tools.ts'
import { library } from '../../docs/examples/getting-started.ts'
import { systemClock } from '../../packages/client/src/time/clock.ts'
import { until } from '../../packages/client/test/processes.ts'
import { ResultStore } from '../../packages/gateway/src/results/store.ts'
import { withGateway } from './running-gateway.ts'

const page = readFileSync(fileURLToPath(new URL('../../docs/protocol.md', import.meta.url)), 'utf8')

/** Returns the cells of the table with this first heading. */
function rowsOf(heading: string): readonly (readonly string[])[] {
  const [, table = ''] = page.split(`\n| ${heading} `)
  const [rows = ''] = table.split('\n\n', 1)
  return rows
    .split('\n')
    .slice(2)
    .map((row) => row.split('|').map((cell) => cell.trim()))
    .map(([, ...cells]) => cells)
}

const marked = (text = ''): readonly string[] => [...text.matchAll(/`([^`]+)`/gu)].map(([, word = '']) => word)

/** Parameters that a route requires. */
const queries: { readonly [path: string]: string } = {
  '/why': '?tool=library__find_books',
  '/documents': '?upstream=library',
}

test('the page documents every admin API route with every response field, and every event', async () => {
  const policy = { rules: [{ effect: 'ask', reason: 'Rare books', arguments: { properties: { title: { const: 'Rare' } } } }] }
  await withGateway({ library, workbench }, { trust: 'review', policy }, async ({ url = '', home, gateway }) => {
    const [run] = await runningGateways(home)
    const ask = async (path: string, decision?: object): Promise<unknown> => {
      const request = decision === undefined ? {} : { method: 'POST', body: JSON.stringify(decision) }
      const response = await fetch(new URL(`/api${path}`, url), {
        ...request,
        headers: { authorization: `Bearer ${run?.admin}` },
      })
      return response.json()
    }
    const held = (await ask('/review?upstream=library')) as readonly { readonly digest: string }[]
    await ask('/review', { server: 'library', decision: 'approve', digests: held.map(({ digest }) => digest) })
    await using client = await connect({ url }, { protocol: 'session' })
    await client.call('library__find_books', { title: 'Library' })
    void client.call('library__find_books', { title: 'Rare' }).catch(() => undefined)
    await until(async () => (await gateway.approvals.list()).length > 0, 'the call waits for approval')
    const file = join(home, 'unfold.json')
    const edited = { ...(JSON.parse(await readFile(file, 'utf8')) as object), trust: 'off' }
    await writeFile(file, JSON.stringify(edited))
    await until(async () => ((await ask('/edits')) as readonly unknown[]).length > 0, 'the edit waits for approval')
    gateway.upstreams.events.emit('stderr', { upstream: 'library', line: 'A book is missing.' })
    const { tools } = gateway.upstreams.get('library') ?? { tools: [] }
    const difference = { added: [], changed: [], removed: tools.slice(0, 1) }
    const counts = { added: 0, changed: 0, removed: 1, reads: 1, ms: 1 }
    gateway.upstreams.events.emit('tools', { upstream: 'library', tools, difference, ...counts })
    const matchesIn = async (path: string, pattern: RegExp): Promise<readonly string[]> =>
      pattern.exec(JSON.stringify(await ask(path)))?.[1]?.split(', ') ?? []

    const routes = new Map(rowsOf('Route').map(([route = '', answer]) => [marked(route)[0] ?? '', marked(answer)]))
    const known = (await matchesIn('/none', /Routes below \/api: (.*)\."/u)).map((route) => route.replace(' ', ' /api'))
    expect([...routes.keys()].toSorted()).toEqual(known.toSorted())
    const kinds = await matchesIn('/events?types=none', /Use one of: ([^.]*)\."/u)
    expect(rowsOf('Event').map(([kind]) => marked(kind)[0])).toEqual(kinds)

    for (const [route, fields] of routes) {
      const path = /^GET \/api(\/[^*]+)$/u.exec(route)?.[1]
      if (path === undefined || path === '/events') continue
      const found = [await ask(`${path}${queries[path] ?? ''}`)].flat()
      expect(found.length, `${route} answers`).toBeGreaterThan(0)
      expect(fields, `fields of ${route}`).toEqual(expect.arrayContaining(found.flatMap((each) => Object.keys(Object(each)))))
    }
  })
})

test('the page documents every metric of the gateway with its type and labels', async () => {
  await withGateway({ library }, {}, async ({ url = '' }) => {
    await using client = await connect({ url }, { protocol: 'session' })
    await client.call('library__find_books', { title: 'Library' })
    const text = await (await fetch(new URL('/metrics', url))).text()
    const kinds = [...text.matchAll(/^# TYPE (unfold_\w+) (\w+)$/gmu)].map(([, name = '', kind]) => ({ name, kind }))
    const rows = rowsOf('Name').map(([name, kind, labels]) => ({ name: marked(name)[0] ?? '', kind, labels: marked(labels) }))
    expect(rows.map(({ name, kind }) => `${name} ${kind}`).toSorted()).toEqual(
      kinds.map(({ name, kind }) => `${name} ${kind}`).toSorted(),
    )
    // A metric without samples has no labels yet.
    const counted = rows.flatMap(({ name, labels }) => {
      const [, found = ''] = new RegExp(`^${name}(?:_count)?(?:\\{(.*)\\})? `, 'mu').exec(text) ?? []
      return found === '' ? [] : [{ name, labels, found: [...found.matchAll(/(\w+)="/gu)].map(([, label]) => label) }]
    })
    expect(counted.length).toBeGreaterThan(5)
    expect(counted.map(({ name, found }) => [name, found])).toEqual(counted.map(({ name, labels }) => [name, labels]))
  })
})

test('the page documents the retention time and size of truncated results', () => {
  const { keepMs, maxCharacters } = new ResultStore(systemClock)
  expect(page).toContain(
    `stored for ${keepMs / 60_000} minutes, and in a session until the session ends: up to ${(maxCharacters * 2) / 2 ** 20} MiB for one client`,
  )
})
