import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { connect } from '@unfold-mcp/client'
import { readConfig } from '@unfold-mcp/gateway'
import { defineToolbox } from '@unfold-mcp/server'
import { expect, test } from 'vitest'
import { workbench } from '../../docs/examples/dynamic-tools.ts'
import { library } from '../../docs/examples/getting-started.ts'
import { kitchen } from '../../docs/examples/results-and-errors.ts'
import { until } from '../../packages/client/test/processes.ts'
import { defaultPace } from '../../packages/gateway/src/upstreams/connected/refresher.ts'
import { withGateway } from './running-gateway.ts'
import { shownAs, transcript } from './transcript.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const shows = (name: string, text: string): Promise<void> => expect(text).toMatchFileSnapshot(shownAs(name))

interface Shape {
  readonly properties: { readonly [key: string]: { readonly default?: unknown } }
  readonly required?: readonly string[]
}

test('the guide documents every configuration key with its default', () => {
  const page = readFileSync(join(root, 'docs/guides/gateway.md'), 'utf8')
  const [, section = ''] = page.split('\n## Configuration reference\n')
  const tables = section
    .split('\n## ', 1)
    .join('')
    .split(/\n\| Key .*\n\|[-| ]+\|\n/u)
    .slice(1)
  const shown = tables.map((table) =>
    [...table.matchAll(/^\| `([^`]+)` +\| (.*?) *\| .+\|$/gmu)].map(([, key, value]) => [key, value]),
  )
  expect(shown).toEqual(shapes().map((shape) => Object.keys(shape.properties).map((key) => [key, defaultOf(shape, key)])))
})

/** The objects of the published schema, in the order of the page. */
function shapes(): readonly Shape[] {
  const schema = JSON.parse(readFileSync(join(root, 'packages/gateway/unfold.schema.json'), 'utf8'))
  const { mcpServers, search, groups, profiles, tokens, listen: at, store, cluster, audit, results, limits } = schema.properties
  const [command, url]: readonly Shape[] = mcpServers.additionalProperties.anyOf
  if (command === undefined || url === undefined) throw new Error('There are two kinds of servers.')
  const isCommon = (key: string): boolean => key !== 'type' && key in command.properties && key in url.properties
  const part = ({ properties, ...rest }: Shape, has: (key: string) => boolean): Shape => ({
    ...rest,
    properties: Object.fromEntries(Object.entries(properties).filter(([key]) => has(key))),
  })
  const isOwn = (key: string): boolean => !isCommon(key)
  const tool = mcpServers.additionalProperties.anyOf[0].properties.tools.additionalProperties
  return [
    schema,
    part(command, isOwn),
    part(url, isOwn),
    part(command, isCommon),
    tool,
    groups.additionalProperties,
    profiles.additionalProperties,
    search,
    search.properties.embedder,
    tokens.items,
    at,
    store.oneOf[0],
    cluster,
    audit,
    results,
    limits,
  ]
}

function defaultOf({ properties, required = [] }: Shape, key: string): string {
  const value = properties[key]?.default
  if (required.includes(key)) return 'required'
  if (typeof value === 'number') return key === 'port' ? String(value) : value.toLocaleString('en')
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0 ? 'none' : ''
  return typeof value === 'string' || typeof value === 'boolean' ? `\`${value}\`` : ''
}

test('the demo configuration is valid without warnings, and all its programs exist', async () => {
  const file = join(root, 'examples/gateway/unfold.json')
  const { config, notStarted, warnings } = await readConfig(file, {})
  expect({ notStarted: [...notStarted], warnings }).toEqual({ notStarted: [], warnings: [] })
  const programs = Object.values(config.mcpServers).flatMap((server) => ('command' in server ? server.args.slice(0, 1) : []))
  expect(programs).toHaveLength(7)
  // Examples are compiled before they run.
  const source = (path: string): string => path.replace(/^\.\.\/dist\/(.*)\.js$/u, '../src/$1.ts')
  const missing = programs.filter((path) => !existsSync(resolve(dirname(file), source(path))))
  expect(missing).toEqual([])
})

const shop = { library, kitchen, workbench }
const small = { budgetTokens: 300 }

test('a gateway, seen by a client of each era', async () => {
  await withGateway(shop, small, async ({ gateway: { toolbox } }) => {
    const session = await transcript(toolbox, { era: 'session' }, async (client) => {
      await client.list()
      await client.call('activate_library')
      await client.list()
      await client.call('library__find_books', { title: 'Library' })
    })
    await shows('gateway-session', session)
    const stateless = await transcript(toolbox, { era: 'stateless' }, async (client) => {
      await client.list()
      await client.call('search_tools', { query: 'find a book' })
      await client.call('call_tool', { name: 'library__find_books', arguments: { title: 'Library' } })
      await client.list()
    })
    await shows('gateway-stateless', stateless)
  })
})

test('one server of a gateway at its own address', async () => {
  await withGateway(shop, {}, async ({ gateway: { toolboxes, access } }) => {
    const alone = toolboxes.of(access.client(undefined, undefined, 'library'))
    const text = await transcript(alone, { era: 'session' }, async (client) => {
      await client.list()
      await client.call('find_books', { title: 'Library' })
    })
    await shows('gateway-server', text)
  })
})

test('groups of servers are activated step by step', async () => {
  const groups = { house: { description: 'Books and meals', servers: ['library', 'kitchen'] } }
  await withGateway(shop, { ...small, groups }, async ({ gateway: { toolbox } }) => {
    const text = await transcript(toolbox, { era: 'session' }, async (client) => {
      await client.list()
      await client.call('activate_house')
      await client.list()
    })
    await shows('gateway-groups', text)
  })
})

test('a long result is truncated, paged and searched', async () => {
  const archive = defineToolbox({ name: 'archive', version: '1.0.0' }).tool('diary', { description: 'The diary' }, () =>
    Array.from({ length: 60 }, (_, day) => `Day ${day + 1}: ${day === 41 ? 'found the key' : 'nothing new'}.`).join('\n'),
  )
  await withGateway({ archive }, { results: { maxCharacters: 1_000 } }, async ({ gateway: { toolbox } }) => {
    const text = await transcript(toolbox, {}, async (client) => {
      await client.call('archive__diary')
      const handle = /"handle":"([^"]+)"/u.exec(client.text)?.[1]
      await client.call('read_result', { handle, find: 'key' })
    })
    const lines = text.replaceAll(/"handle":"[^"]+"/gu, '"handle":"r_5f0c…"').split('\n')
    const [first, last] = [
      lines.indexOf('  Day 3: nothing new.'),
      lines.findLastIndex((line) => /^ {2}Day \d+: nothing new\.$/u.test(line)),
    ]
    await shows('gateway-results', [...lines.slice(0, first), '  …', ...lines.slice(last)].join('\n'))
  })
})

test('a tool change in the log', async () => {
  await withGateway({ workbench }, {}, async ({ url = '', lines }) => {
    await using client = await connect({ url })
    await until(() => lines.some((line) => line.includes('2 tools (')), 'the gateway has its tools')
    await client.call('workbench__load_plugin', { name: 'letters' })
    const names = async (): Promise<readonly string[]> => (await client.tools()).map(({ name }) => name)
    await until(async () => (await names()).includes('workbench__reverse'), 'the client has the new tool')
    const isOfChange = (line: string): boolean => /^info {2}workbench (?:connected|\d+ tools|tools)/u.test(line)
    const text = lines
      .filter(isOfChange)
      .join('\n')
      .replaceAll(/\d+ ms/gu, '40 ms')
    await client.call('workbench__unload_plugin', { name: 'letters' })
    await until(() => lines.some((line) => line.includes('+0 -2 ~0')), 'the tools are removed')
    await shows('gateway-change', `${text}\n`)
  })
})

test('the page on automatic updates has the actual intervals', () => {
  const page = readFileSync(join(root, 'docs/guides/automatic-updates.md'), 'utf8')
  const { initialQuietMs, quietMs, maxQuietMs, timeoutMs } = defaultPace
  expect(page).toContain(`quiet for ${initialQuietMs} ms? in a burst ${quietMs} ms, ${maxQuietMs} ms at most`)
  expect(page).toContain(`The timeout of a refresh is ${timeoutMs / 1_000} seconds`)
})
