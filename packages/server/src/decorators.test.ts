import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { mcpServer, tool, toolboxOf } from './decorators.ts'
import { ToolRegistry } from './registry.ts'
import { testContext } from './testing/index.ts'
import type { ToolContext } from './tool/context.ts'
import { ToolGroups } from './tool-groups.ts'

@mcpServer({ activation: 'activated', description: 'Code analysis' })
class Analyzer {
  activated = false
  readonly #unit = 'characters'

  @tool({ activator: true, description: 'Activate the code analyzer. Enables: analyze.' })
  activate() {
    this.activated = true
    return this.activated ? 'Code analyzer activated.' : 'Something is wrong.'
  }

  @tool({ description: 'Measure code', inputSchema: z.object({ source: z.string() }) })
  analyze({ source }: { source: string }) {
    return `${source.length} ${this.#unit}`
  }
}

@mcpServer({ groups: 'groups', registry: 'registry', hiddenToolHint: true, name: 'hub', version: '2.0.0' })
class Hub {
  readonly groups = new ToolGroups().withGroup('core', 'Core functions').withChildGroup('extra', 'core', 'Extra functions')
  readonly registry = new ToolRegistry()

  @tool({ activator: 'core', description: 'Activate the core' })
  async activate_core(_input: object, ctx: ToolContext) {
    await this.groups.activate('core', ctx)
    return 'Core activated'
  }

  @tool({ group: 'core', name: 'core_function' })
  coreFunction() {
    return this.groups.isActive('core') ? 'running' : 'asleep'
  }
}

describe('a class with one activation field', () => {
  test('lists only its activator until that sets the field, per client, with one notification', async () => {
    const server = new Analyzer()
    await using one = await testContext(server)
    await using other = await testContext(server)
    expect(one.toolNames()).toEqual(['activate'])
    await one.call('activate')
    expect(one.toolNames()).toEqual(['activate', 'analyze'])
    expect(other.toolNames()).toEqual(['activate'])
    expect([one.listChanges, other.listChanges]).toEqual([1, 0])
    expect(await one.call('analyze', { source: 'abc' })).toEqual({ content: [{ type: 'text', text: '3 characters' }] })
  })

  test('starts activated if the field is true', async () => {
    const server = new Analyzer()
    server.activated = true
    await using client = await testContext(server)
    expect(client.toolNames()).toEqual(['activate', 'analyze'])
  })

  test('cannot be set outside a call', async () => {
    const server = new Analyzer()
    await using client = await testContext(server)
    expect(() => server.activated).toThrow(`"activated" outside a call needs a scope: toolboxOf(server).isActive('all', scope)`)
    expect(toolboxOf(server).isActive('all', client.scope)).toBe(false)
    expect(() => {
      server.activated = true
    }).toThrow('can only be set while a call is answered')
    expect(client.toolNames()).toEqual(['activate'])
  })
})

describe('a class with groups and a registry', () => {
  test('lists its activators in group order, and registered tools last', async () => {
    const hub = new Hub()
    await using client = await testContext(hub)
    hub.registry.register('late', { description: 'A latecomer' }, () => 'here')
    expect(client.toolNames()).toEqual(['activate_core', 'activate_extra', 'deactivate', 'late'])
    await client.call('activate_core')
    expect(client.toolNames()).toEqual(['activate_core', 'activate_extra', 'deactivate', 'core_function', 'late'])
    expect(await client.call('core_function')).toEqual({ content: [{ type: 'text', text: 'running' }] })
  })

  test('names the activator of a hidden tool', async () => {
    await using client = await testContext(new Hub())
    expect((await client.call('core_function')).content).toEqual([
      { type: 'text', text: "Tool 'core_function' requires activation. Call 'activate_core' first." },
    ])
  })

  test('has no activation outside a call', async () => {
    const hub = new Hub()
    await using _client = await testContext(hub)
    await expect(hub.groups.activate('core')).rejects.toThrow('needs the ctx of a call')
  })

  test('can be controlled from outside like any toolbox', async () => {
    const hub = new Hub()
    await using client = await testContext(hub)
    await toolboxOf(hub).activate('core', client.scope)
    expect(client.toolNames()).toContain('core_function')
  })
})

test('the compiler rejects a field that the class does not have', () => {
  // @ts-expect-error Property 'activatd' is missing
  @mcpServer({ activation: 'activatd' })
  class Misspelt {
    activated = false
  }
  expect(new Misspelt().activated).toBe(false)
})

test('the compiler rejects a method whose input does not match its schema', () => {
  class Mistaken {
    // @ts-expect-error the schema gives a number
    @tool({ inputSchema: z.object({ size: z.number() }) })
    measure({ size }: { size: string }) {
      return size
    }
  }
  expect(new Mistaken().measure({ size: '1' })).toBe('1')
})
