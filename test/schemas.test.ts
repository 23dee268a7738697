import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Baselines, browserToolbox, Recording, Redactor } from '@unfold-mcp/browser'
import { canonicalJson, type JsonSchema, type Tool } from '@unfold-mcp/core'
import { defineToolbox, type ModePolicy, type Principal, ToolRegistry } from '@unfold-mcp/server'
import { type TestContext, testContext } from '@unfold-mcp/server/testing'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { automationHub } from '../examples/src/automation-hub/hub.ts'
import { workshop } from '../examples/src/big-catalog/workshop.ts'
import { codeIntelligence } from '../examples/src/code-intelligence/suite.ts'
import { Fleet } from '../examples/src/devops-hub/fleet.ts'
import { devopsHub } from '../examples/src/devops-hub/hub.ts'
import { hybridServer } from '../examples/src/hybrid/server.ts'
import { smartHome } from '../examples/src/lazy/home.ts'
import { House } from '../examples/src/lazy/house.ts'
import { pluginFolderServer } from '../examples/src/plugin-folder/server.ts'
import { pluginServer } from '../examples/src/plugin-server/server.ts'
import { local } from '../examples/src/secure-server/access.ts'
import { secureServer } from '../examples/src/secure-server/server.ts'
import { JobQueue } from '../examples/src/state-aware/queue.ts'
import { jobServer } from '../examples/src/state-aware/server.ts'
import { pageWatcher } from './fixtures/watched-page.ts'

const folder = await mkdtemp(join(tmpdir(), 'unfold-schemas-'))
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }))

/** A server whose lists are checked, with the calls that reveal more tools. */
interface Subject {
  readonly served: object
  readonly principal?: Principal
  /** Calls that reveal more tools. */
  readonly calls?: readonly (readonly [name: string, args?: Record<string, unknown>])[]
  /** Other steps that reveal tools. */
  readonly prepare?: () => void | Promise<void>
  /** Stops what was started for the server. */
  readonly done?: () => Promise<void>
}

function browserOf(): Subject {
  const recording = new Recording({ redactor: new Redactor() })
  const unused = (): never => {
    throw new Error('No browser in this test.')
  }
  const browser = { tabs: () => [], tab: unused, snapshot: async () => unused() }
  const served = browserToolbox({ recording, browser, baselines: new Baselines(), sessions: folder, output: folder })
  const prepare = (): void => {
    const names = Object.keys(recording.facts.read())
    recording.facts.set(Object.fromEntries(names.map((name) => [name, 1])))
  }
  return { served, prepare, calls: [['observe', { what: 'errors' }]] }
}

function watcherOf(policy: ModePolicy): Subject {
  const { served, page } = pageWatcher({ policy })
  const prepare = (): void => {
    page.log('error')
    for (const buffer of ['networkBodies', 'wsEvents', 'connections', 'enhancedActions', 'snapshots', 'endpoints'] as const)
      page.see(buffer)
  }
  return { served, prepare, calls: [['observe', { what: 'page' }]] }
}

function queueOf(): Subject {
  const queue = new JobQueue()
  const prepare = async (): Promise<void> => {
    queue.submit('primes', 100)
    await expect.poll(() => queue.facts.get('done')).toBe(1)
  }
  return { served: jobServer(queue), prepare, calls: [['jobs', { which: 'done' }]] }
}

/** All example servers of this repository; add new ones here. */
const subjects: { readonly [name: string]: () => Subject } = {
  'automation-hub': () => ({ served: automationHub({ folder, allowPrivate: false, timeoutMs: 1_000 }) }),
  'big-catalog': () => ({ served: workshop() }),
  'code-intelligence': () => ({ served: codeIntelligence() }),
  'devops-hub': () => ({ served: devopsHub(new Fleet(() => 0)) }),
  hybrid: () => ({ served: hybridServer(), calls: [['add_note', { name: 'milk', text: 'Buy milk', pinned: true }]] }),
  lazy: () => ({ served: smartHome(new House(() => 0)) }),
  'plugin-folder': () => {
    const { toolbox, plugins } = pluginFolderServer(
      fileURLToPath(new URL('../examples/src/plugin-folder/plugins/', import.meta.url)),
    )
    return { served: toolbox, prepare: () => plugins.ready(), done: () => plugins.close() }
  },
  'plugin-server': () => ({
    served: pluginServer(() => 0),
    calls: ['text', 'math', 'time'].map((name) => ['load_plugin', { name }] as const),
  }),
  'secure-server': () => ({ served: secureServer(), principal: local, calls: [['grant_permission', { permission: 'admin' }]] }),
  'state-aware': queueOf,
  'unfold-browser': browserOf,
  'a page that is watched': () => watcherOf('filtered'),
  'the same with all modes listed': () => watcherOf('static'),
}

const combiners = ['anyOf', 'oneOf', 'allOf', 'not', 'if', '$ref', '$dynamicRef'] as const
const nameForm = /^[\w.-]{1,128}$/u

/** Returns the problems of a tool for clients that accept plain object schemas only. */
function faultsOf({ name, description, inputSchema }: Tool): readonly string[] {
  const faults: string[] = []
  const { type, properties, required = [] } = inputSchema
  if (!nameForm.test(name)) faults.push('its name')
  if (description !== undefined && typeof description !== 'string') faults.push('its description')
  if (type !== 'object') faults.push(`type ${JSON.stringify(type)}`)
  if (typeof properties !== 'object' || properties === null || Array.isArray(properties)) return [...faults, 'no properties']
  faults.push(...combiners.filter((keyword) => Object.hasOwn(inputSchema, keyword)).map((keyword) => `${keyword} at the top`))
  const unknown = (required as readonly string[]).filter((each) => !Object.hasOwn(properties, each))
  if (unknown.length > 0) faults.push(`requires ${unknown.join()} without declaring it`)
  return faults
}

const faultsIn = (tools: readonly Tool[]): readonly string[] =>
  tools.flatMap((tool) => faultsOf(tool).map((fault) => `${tool.name}: ${fault}`))

/** Returns the tools with combined schemas below the top level, which clients accept. */
const nestedIn = (tools: readonly Tool[]): readonly string[] =>
  tools.filter(({ inputSchema }) => /"(?:anyOf|oneOf|allOf|not)":/u.test(JSON.stringify(inputSchema))).map(({ name }) => name)

/** Returns all tools that a client can see: initially, with every group active, and in every exposure. */
async function listsOf({ served, principal, calls = [], prepare }: Subject): Promise<readonly Tool[]> {
  const asking = principal === undefined ? {} : { principal }
  const all: Tool[] = []
  const take = (client: TestContext): void => void all.push(...client.tools())
  for (const view of ['', 'exposure=everything', 'exposure=lazy', 'exposure=search', 'exposure=auto', 'readOnly', 'counts=false'])
    for (const era of ['session', 'stateless'] as const) {
      await using client = await testContext(served, { ...asking, era, view })
      take(client)
    }
  await prepare?.()
  await using client = await testContext(served, asking)
  take(client)
  for (const [name, args] of calls) {
    const { isError, content } = await client.call(name, args)
    expect(isError, `${name}: ${JSON.stringify(content)}`).not.toBe(true)
    take(client)
  }
  for (const { name, activator } of client.groups()) {
    // Activating a group deactivates those it excludes, so each list is checked after its activation.
    await client.call(activator)
    expect(client.groups().find((group) => group.name === name)?.active, `for ${name}`).toBe(true)
    take(client)
  }
  await using whole = await testContext(served, { ...asking, view: 'exposure=everything' })
  take(whole)
  return all
}

async function listed(subject: Subject): Promise<readonly Tool[]> {
  try {
    return await listsOf(subject)
  } finally {
    await subject.done?.()
  }
}

describe('the schemas of every example', () => {
  test.each(Object.entries(subjects))('%s', async (_, make) => {
    const subject = make()
    const tools = await listed(subject)
    expect(tools.length).toBeGreaterThan(0)
    expect(faultsIn(tools)).toEqual([])
    for (const tool of tools) {
      expect(JSON.parse(JSON.stringify(tool)), `for ${tool.name}`).toEqual(tool)
      expect(canonicalJson(JSON.parse(JSON.stringify(tool)))).toBe(canonicalJson(tool))
    }
  })

  test('every example that is a server has a subject', async () => {
    const names = await readdir(new URL('../examples/src/', import.meta.url))
    const servers = names.filter((name) => name !== 'adaptive-client')
    expect(Object.keys(subjects)).toEqual(expect.arrayContaining(servers))
  })
})

test('of the library’s own tools, only manage_tools combines schemas below the top level', async () => {
  const surface = new Set(['manage_tools', 'search_tools', 'describe_tools', 'call_tool', 'deactivate'])
  const tools = await listsOf(subjects.lazy?.() ?? { served: {} })
  const own = tools.filter(({ name }) => surface.has(name))
  expect(new Set(own.map(({ name }) => name)).size).toBeGreaterThan(3)
  // `tools` is one name or a list of names.
  expect([...new Set(nestedIn(own))]).toEqual(['manage_tools'])
})

test('the check detects an invalid schema', () => {
  const tool = (inputSchema: JsonSchema, name = 'look'): Tool => ({ name, inputSchema: inputSchema as Tool['inputSchema'] })
  expect(faultsIn([tool({ type: 'object', properties: {}, anyOf: [] })])).toEqual(['look: anyOf at the top'])
  expect(faultsIn([tool({ type: 'object' })])).toEqual(['look: no properties'])
  expect(faultsIn([tool({ properties: {} })])).toEqual(['look: type undefined'])
  expect(faultsIn([tool({ type: 'object', properties: {}, required: ['x'] })])).toEqual(['look: requires x without declaring it'])
  expect(faultsIn([tool({ type: 'object', properties: {} }, 'two words')])).toEqual(['two words: its name'])
})

test('with any groups, tools and modes, surface tools and composite tools have plain object schemas', async () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,11}$/u)
  const setting = fc.record({
    groups: fc.uniqueArray(name, { maxLength: 4 }),
    modes: fc.uniqueArray(name, { minLength: 1, maxLength: 5 }),
    takes: fc.uniqueArray(name, { maxLength: 3 }),
    policy: fc.constantFrom<ModePolicy>('filtered', 'static'),
    callVariants: fc.boolean(),
    after: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(setting, async ({ groups, modes, takes, policy, callVariants, after }) => {
      const registry = new ToolRegistry()
      registry.register('extra.tool', { inputSchema: z.object({ at: z.union([z.string(), z.number()]) }) }, () => '')
      const toolbox = defineToolbox({
        name: 'made',
        version: '1.0.0',
        exposure: { callVariants },
        groups: Object.fromEntries(groups.map((each) => [each, { description: `About ${each}` }])),
        ...(after && { after: 'first.look' }),
      }).use(registry)
      for (const group of groups)
        toolbox.tool(`in.${group}`, { group, inputSchema: z.object({ id: z.string().nullable() }) }, () => '')
      toolbox.composite(
        'first.look',
        {
          by: 'which.one',
          policy,
          modes: Object.fromEntries(
            modes.map((mode, index) => [
              mode,
              {
                description: mode,
                count: () => index,
                available: () => index % 2 === 0,
                input: z.object(Object.fromEntries(takes.map((each) => [each, z.union([z.string(), z.null()]).optional()]))),
              },
            ]),
          ),
        },
        Object.fromEntries(modes.map((mode) => [mode, () => mode])),
      )
      const tools = await listsOf({ served: toolbox, calls: [['first.look', { 'which.one': modes[0] }]] })
      expect(faultsIn(tools)).toEqual([])
      for (const tool of tools) expect(canonicalJson(JSON.parse(JSON.stringify(tool)))).toBe(canonicalJson(tool))
      await toolbox.close()
    }),
    { numRuns: 40 },
  )
}, 300_000)
