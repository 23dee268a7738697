import { PassThrough } from 'node:stream'
import { adopt, defineToolbox, type Failure, type Report, serveStdio, ToolGroups, ToolRegistry } from '@unfold-mcp/server'
import { mcpServer, tool, toolboxOf } from '@unfold-mcp/server/decorators'
import { testContext } from '@unfold-mcp/server/testing'
import { expect } from 'vitest'
import { z } from 'zod'
import { textOf } from '../replies.ts'
import { verifies } from '../verifies.ts'

const info = { name: 'desk', version: '1.0.0' }
const text = z.object({ text: z.string() })
const length = z.object({ length: z.number() })

/** One server, declared with the keys of MCP and with the library's short keys. */
function bothNamings() {
  const current = defineToolbox({
    ...info,
    description: 'A desk.',
    gate: { description: 'Everything on the desk' },
    groups: { notes: { description: 'Notes' } },
  })
    .tool('measure', { group: 'notes', description: 'Measure a text', inputSchema: text, outputSchema: length }, (input) => ({
      length: input.text.length,
    }))
    .composite(
      'observe',
      {
        by: 'what',
        description: 'Observe',
        inputSchema: z.object({ limit: z.number() }),
        modes: { logs: { description: 'Log lines', inputSchema: text }, page: { description: 'The page' } },
      },
      { logs: (input) => `${input.text} ${input.limit}`, page: ({ limit }) => String(limit) },
    )
    .use(registryOf({ description: 'Repeat a text', inputSchema: text, outputSchema: length }))
  const former = defineToolbox({
    ...info,
    about: 'A desk.',
    gate: { about: 'Everything on the desk' },
    groups: { notes: { about: 'Notes' } },
  })
    .tool('measure', { group: 'notes', about: 'Measure a text', input: text, output: length }, (input) => ({
      length: input.text.length,
    }))
    .composite(
      'observe',
      {
        by: 'what',
        about: 'Observe',
        input: z.object({ limit: z.number() }),
        modes: { logs: { about: 'Log lines', input: text }, page: { about: 'The page' } },
      },
      { logs: (input) => `${input.text} ${input.limit}`, page: ({ limit }) => String(limit) },
    )
    .use(registryOf({ about: 'Repeat a text', input: text, output: length }))
  return [current, former] as const
}

function registryOf(config: Parameters<ToolRegistry['register']>[1]): ToolRegistry {
  const registry = new ToolRegistry({ name: 'more' })
  registry.register('repeat', config, () => ({ length: 1 }))
  return registry
}

/** One class, declared with the keys of MCP and with the library's short keys. */
function bothClasses() {
  @mcpServer({ ...info, description: 'A desk.', activation: 'open', groups: 'groups' })
  class Current {
    open = false
    readonly groups = new ToolGroups({ notes: { description: 'Notes' } })
    @tool({ group: 'notes', description: 'Measure a text', inputSchema: text, outputSchema: length }) measure(input: {
      text: string
    }) {
      return { length: input.text.length }
    }
  }
  @mcpServer({ ...info, about: 'A desk.', activation: 'open', groups: 'groups' })
  class Former {
    open = false
    readonly groups = new ToolGroups({ notes: { about: 'Notes' } })
    @tool({ group: 'notes', about: 'Measure a text', input: text, output: length }) measure(input: { text: string }) {
      return { length: input.text.length }
    }
  }
  return [new Current(), new Former()] as const
}

verifies('P24', async () => {
  const reports: Report[] = []
  const box = defineToolbox({ ...info, report: (report) => reports.push(report) })
  for (const name of ['read_file', 'Read-File', 'list_all', '1ist_al1', 'go.', 'go', 'other', 'Search_Tools'])
    box.tool(name, {}, () => name)
  await using context = await testContext(box)
  expect(context.toolNames()).toHaveLength(8)
  expect(reports.map(({ reason, message }) => `${reason}: ${message}`)).toEqual([
    'name_clash: Similar tool names: read_file, Read-File. Rename them so that they are not confused.',
    'name_clash: Similar tool names: list_all, 1ist_al1. Rename them so that they are not confused.',
    'name_clash: Similar tool names: go., go. Rename them so that they are not confused.',
    'name_clash: Similar tool names: Search_Tools, search_tools. Rename them so that they are not confused.',
  ])
})

verifies('P17', async ({ connect, testTransport }) => {
  for (const pair of [bothNamings(), bothClasses()]) {
    const [current, former] = await Promise.all(
      pair.map(async (served) => {
        const client = await connect(served)
        const first = await client.tools()
        if (testTransport.era === 'session') {
          await client.call('activate')
          await client.call('activate_notes')
        }
        const measured = await client.call('measure', { text: 'four' })
        return { first, measured, all: await client.tools(), instructions: client.client.getInstructions() }
      }),
    )
    expect(current).toEqual(former)
    expect(current?.instructions).toContain('A desk.')
    expect(current?.measured.structuredContent).toEqual({ length: 4 })
    expect(current?.all.find(({ name }) => name === 'measure')).toMatchObject({
      description: 'Measure a text',
      inputSchema: { required: ['text'] },
      outputSchema: { required: ['length'] },
    })
    if (testTransport.era === 'session') expect(JSON.stringify(current?.all)).toContain('Notes')
  }
})

/** A declaration without type checks, as in JavaScript. */
const unchecked = (value: unknown): never => value as never

function refusal(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    return `${(error as Failure).reason}: ${(error as Failure).message}`
  }
  return 'nothing was rejected'
}

const handler = (): string => ''

verifies('P18', () => {
  const box = defineToolbox(info)
  const misspelt = { desciption: 'Ping' }
  const misspeltAttributes: object = { regsitry: 'x' }
  const tools: readonly (() => unknown)[] = [
    () => box.tool('ping', unchecked({ ...misspelt }), handler),
    () => new ToolRegistry().register('ping', unchecked(misspelt), handler),
    () => new ToolRegistry().registerInGroup('ping', unchecked(misspelt), 'files', handler),
    () => new ToolRegistry().registerConditional('ping', unchecked(misspelt), () => true, handler),
    () => box.composite('ping', unchecked({ by: 'what', modes: { page: { description: '' } }, ...misspelt }), { page: handler }),
    () => {
      class Desk {
        @tool(unchecked(misspelt)) ping(): string {
          return ''
        }
      }
      return new Desk()
    },
  ]
  for (const declare of tools)
    expect(refusal(declare)).toBe('invalid_declaration: Unknown key "desciption" in tool "ping". Did you mean "description"?')
  const others: readonly (readonly [() => unknown, string])[] = [
    [() => defineToolbox(unchecked({ ...info, gruops: {} })), '"gruops" in toolbox "desk". Did you mean "groups"?'],
    [() => defineToolbox({ ...info, gate: unchecked({ abuot: '' }) }), '"abuot" in "gate". Did you mean "description"?'],
    [
      () => defineToolbox({ ...info, groups: { a: unchecked({ parnet: 'b' }) } }),
      '"parnet" in group "a". Did you mean "parent"?',
    ],
    [() => new ToolGroups({ a: unchecked({ parnet: 'b' }) }), '"parnet" in group "a". Did you mean "parent"?'],
    [
      () => new ToolGroups().withGroup('a', 'A', unchecked({ exclude: ['b'] })),
      '"exclude" in group "a". Did you mean "excludes"?',
    ],
    [
      () => defineToolbox({ ...info, groups: { a: { hooks: unchecked({ activte: handler }) } } }),
      '"activte" in the hooks of group "a". Did you mean "activate"?',
    ],
    [() => defineToolbox({ ...info, quota: unchecked({ group: 3 }) }), '"group" in "quota". Did you mean "groups"?'],
    [() => defineToolbox({ ...info, limits: unchecked({ dept: 3 }) }), '"dept" in "limits". Did you mean "depth"?'],
    [() => defineToolbox({ ...info, search: unchecked({ lern: true }) }), '"lern" in "search". Did you mean "learn"?'],
    [
      () => defineToolbox({ ...info, exposure: unchecked({ mode: 'auto', budgetToken: 1 }) }),
      '"budgetToken" in "exposure". Did you mean "budgetTokens"?',
    ],
    [
      () =>
        box.composite('see', { by: 'what', modes: { page: unchecked({ description: '', whenempty: '' }) } }, { page: handler }),
      '"whenempty" in mode "page" of tool "see". Did you mean "whenEmpty"?',
    ],
    [() => new ToolRegistry(unchecked({ nam: 'more' })), '"nam" in the options of a registry. Did you mean "name"?'],
    [
      () =>
        mcpServer(misspeltAttributes)(
          class Desk {
            ping = ''
          },
          unchecked({}),
        ),
      '"regsitry" in class "Desk". Did you mean "registry"?',
    ],
    [
      () => adopt(unchecked(undefined), unchecked({ asign: {} })),
      '"asign" in the options of an adopted server. Did you mean "assign"?',
    ],
  ]
  for (const [declare, message] of others) expect(refusal(declare)).toBe(`invalid_declaration: Unknown key ${message}`)
  // An existing definition has a name, which must match.
  const definition = { name: 'listed', description: 'List' }
  new ToolRegistry().register('listed', definition, handler)
  box.tool('listed', definition, handler)
  expect(refusal(() => box.tool('other', definition, handler))).toContain('Unknown key "name" in tool "other".')
  // Without a close match, the known keys are listed; undefined values are ignored.
  expect(refusal(() => defineToolbox({ ...info, gate: unchecked({ zzzzz: 1 }) }))).toContain('Known keys: description, default.')
  expect(() => defineToolbox(unchecked({ ...info, gruops: undefined }))).not.toThrow()
  expect(refusal(() => box.tool('two', { about: 'One', description: 'Two' }, handler))).toBe(
    'invalid_declaration: "description" and "about" in tool "two" differ, but are two names of one option. Keep "description".',
  )
  expect(refusal(() => box.tool('two', { input: text, inputSchema: z.object({ text: z.string() }) }, handler))).toContain(
    '"inputSchema" and "input" in tool "two" differ',
  )
  expect(() => box.tool('one', { about: 'One', description: 'One', input: text, inputSchema: text }, handler)).not.toThrow()
  expect(refusal(() => box.composite('see', { by: 'what', modes: { page: unchecked({}) } }, { page: handler }))).toContain(
    'Mode "page" of tool "see" has no description. Add "description".',
  )
  expect(
    refusal(() =>
      box.composite('see', { by: 'what', modes: { page: { description: '' } } }, unchecked({ page: handler, pgae: handler })),
    ),
  ).toContain('a handler for the mode "pgae", which is not declared. Nearest: page.')
})

verifies('P19', () => {
  const shape = { n: z.number() }
  const box = defineToolbox(info)
  const declarations: readonly (() => unknown)[] = [
    () => box.tool('add', { input: shape }, handler),
    () => box.tool('add', { inputSchema: shape }, handler),
    () => box.tool('add', { inputSchema: { type: 'object', properties: shape } }, handler),
    () => box.composite('add', { by: 'what', inputSchema: shape, modes: { page: { description: '' } } }, { page: handler }),
    () => new ToolRegistry().register('add', { inputSchema: shape }, handler),
    () => {
      class Desk {
        @tool({ inputSchema: shape }) add(): string {
          return ''
        }
      }
      return new Desk()
    },
  ]
  for (const declare of declarations)
    expect(refusal(declare)).toBe(
      'invalid_schema: Tool "add": its input schema is a plain object that holds zod schemas: wrap it in z.object(…).',
    )
  expect(refusal(() => box.tool('add', { outputSchema: shape }, unchecked(handler)))).toContain(
    'Tool "add": its output schema is a plain object',
  )
  expect(refusal(() => new ToolRegistry().register('add', { output: shape }, handler))).toContain('Tool "add": its output schema')
  expect(
    refusal(() =>
      box.composite('add', { by: 'what', modes: { page: { description: '', inputSchema: shape } } }, { page: handler }),
    ),
  ).toContain('Tool "add (page)": its input schema is a plain object that holds zod schemas: wrap it in z.object(…).')
  expect(refusal(() => box.tool('add', { inputSchema: unchecked(z.object) }, handler))).toContain(
    'its input schema is a function',
  )
  // Any JSON Schema is accepted.
  expect(() => box.tool('none', { inputSchema: {} }, handler)).not.toThrow()
  expect(() => box.tool('any', { inputSchema: { type: 'object', properties: { n: true } } }, handler)).not.toThrow()
})

verifies('P20', async ({ connect }) => {
  const registry = new ToolRegistry({ name: 'more', groups: { files: { description: 'Files' } } })
  registry.register('open_files', { activator: 'files' }, (_, ctx) => ctx.activate('files').then(() => 'Opened.'))
  registry.register('help', { always: true, readOnly: true, description: 'Help' }, () => 'Help')
  registry.register('read_file', { group: 'files', description: 'Read', input: text, openWorld: false }, (input) => input.text)
  registry.register('next_file', { group: 'files', after: 'read_file' }, () => 'next')
  const toolbox = defineToolbox({ ...info, gate: 'The desk', groups: { files: { description: 'Files' } } })
    .use(registry)
    .tool('ping', {}, () => 'pong')
  const client = await connect(toolbox)
  expect(await client.toolNames()).toEqual(['activate', 'help'])
  await client.call('activate')
  expect(await client.toolNames()).toEqual(['activate', 'open_files', 'deactivate', 'ping', 'help'])
  expect((await client.tools()).find(({ name }) => name === 'open_files')?.description).toBe('Files.')
  expect(textOf(await client.call('open_files'))).toContain('Opened.')
  expect((await client.toolNames()).slice(-2)).toEqual(['help', 'read_file'])
  expect(textOf(await client.call('read_file', { text: 'a.txt' }))).toContain('a.txt')
  expect((await client.toolNames()).at(-1)).toBe('next_file')
  const annotations = (await client.tools()).map(({ name, annotations: hints }) => [name, hints])
  expect(annotations).toContainEqual(['help', { readOnlyHint: true }])
  expect(annotations).toContainEqual(['read_file', { openWorldHint: false }])
  // A registered activator may open the gate as well.
  const opener = new ToolRegistry()
  opener.register('open', { activator: true, description: 'Open the desk' }, (_, ctx) => ctx.activate().then(() => 'Opened.'))
  const gated = await connect(
    defineToolbox({ ...info, gate: 'The desk' })
      .use(opener)
      .tool('ping', {}, () => 'pong'),
  )
  expect(await gated.toolNames()).toEqual(['open'])
  await gated.call('open')
  expect(await gated.toolNames()).toContain('ping')
})

verifies('P22', async () => {
  @mcpServer({ ...info, activation: 'open', groups: 'groups' })
  class Desk {
    open = false
    readonly groups = new ToolGroups({ notes: { description: 'Notes' } })
  }
  const desk = new Desk()
  const plain = defineToolbox({ ...info, groups: { notes: { default: true }, mail: {} } })
  const streams = () => ({ input: new PassThrough(), output: new PassThrough() })
  const servers = [serveStdio(desk, { streams: streams() }), serveStdio(plain, { streams: streams() })]
  expect([desk.open, desk.groups.isActive('notes'), toolboxOf(desk).isActive('notes')]).toEqual([false, false, false])
  expect([plain.isActive('notes'), plain.isActive('mail')]).toEqual([true, false])
  await Promise.all(servers.map((server) => server.close()))
  expect(() => desk.open).toThrow(
    `"open" outside a call needs a scope: toolboxOf(server).isActive('all', scope). Open scopes: none.`,
  )
})
