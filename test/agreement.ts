import { ProtocolError } from '@modelcontextprotocol/client'
import { defineToolbox, isFailure, type Toolbox, ToolRegistry } from '@unfold-mcp/server'
import type { TestClient } from '@unfold-mcp/server/testing'
import { replyData } from '@unfold-mcp/server/testing'
import fc from 'fast-check'
import { expect } from 'vitest'
import { declaredTools, groups, ModelClient, plugins, type World } from './model.ts'
import { textOf } from './replies.ts'

const groupNames = Object.keys(groups)
const pathTo = (name: string): readonly string[] => {
  const parent = groups[name]?.parent
  return parent === undefined ? [name] : [...pathTo(parent), name]
}
const toolNames = [...new Set([...declaredTools, ...plugins].map(({ name }) => name))]
const unknownName = 'velociraptor'

/** A client under test, on any transport. */
export interface Peer {
  readonly notices: number
  tools(): Promise<readonly { readonly name: string; readonly description?: string | undefined }[]>
  call(name: string, args?: Record<string, unknown>): Promise<Awaited<ReturnType<TestClient['call']>>>
  /** Waits for the expected number of notifications. */
  settled(notices: number): Promise<void>
  close(): Promise<void>
}

/** All possible actions. `client` is an index into the clients. */
type Action =
  | { readonly kind: 'activate' | 'deactivate' | 'open'; readonly client: number; readonly group: string }
  | { readonly kind: 'activate for'; readonly whom: 'one' | 'all'; readonly client: number; readonly group: string }
  | { readonly kind: 'call'; readonly client: number; readonly name: string }
  | { readonly kind: 'list' | 'reconnect'; readonly client: number }
  | { readonly kind: 'world'; readonly changes: readonly Change[] }
  | { readonly kind: 'announce' }

/** Shared state that changes: plugins, conditions, permissions. */
type Change =
  | { readonly what: 'plugin'; readonly name: string }
  | { readonly what: 'condition' }
  | { readonly what: 'permission'; readonly principal: string }

const principals = ['ann', 'bob', 'ann'] as const
export const eras = ['session', 'session', 'stateless'] as const

const client = fc.nat(principals.length - 1)
const group = fc.constantFrom(...groupNames)
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ what: fc.constant('plugin' as const), name: fc.constantFrom(...plugins.map(({ name }) => name)) }),
  fc.constant({ what: 'condition' } as const),
  fc.record({ what: fc.constant('permission' as const), principal: fc.constantFrom('ann', 'bob') }),
)
export const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 9, arbitrary: fc.record({ kind: fc.constantFrom('activate' as const, 'open' as const), client, group }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('deactivate' as const), client, group }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('activate for' as const),
      whom: fc.constantFrom('one' as const, 'all' as const),
      client,
      group,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('call' as const), client, name: fc.constantFrom(...toolNames, unknownName) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('list' as const, 'reconnect' as const), client }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('world' as const), changes: fc.array(change, { minLength: 1, maxLength: 3 }) }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: 'announce' } as const) },
)

interface System {
  readonly toolbox: Toolbox
  readonly registry: ToolRegistry
  readonly world: World
}

export function system(): System {
  const world: World = { isOpen: false, granted: new Set(['ann']), registered: new Set() }
  const registry = new ToolRegistry()
  const declarations = Object.entries(groups).map(([name, { parent, needs, excludes }]) => [
    name,
    { about: name, ...(parent && { parent }), ...(needs && { needs: [needs] }), ...(excludes && { excludes: [excludes] }) },
  ])
  const restricted = new Set(declaredTools.filter((tool) => tool.restricted).map(({ name }) => name))
  const toolbox: Toolbox = defineToolbox({
    name: 'model',
    version: '1.0.0',
    groups: Object.fromEntries(declarations),
    facts: () => ({ isOpen: world.isOpen }),
    permit: (principal, { name }) => !restricted.has(name) || world.granted.has(principal?.id ?? ''),
    report: () => undefined,
  })
  for (const { name, group: groupName, conditional } of declaredTools) {
    const when = conditional && { when: ({ facts }: { facts: { isOpen?: boolean } }) => facts.isOpen === true }
    toolbox.tool(
      name,
      { ...(groupName !== undefined && { group: groupName }), ...when },
      (_, ctx) => `${name} for ${ctx.principal?.id}`,
    )
  }
  return { toolbox: toolbox.use(registry), registry, world }
}

function changeWorld({ registry, world }: System, given: Change): void {
  if (given.what === 'condition') world.isOpen = !world.isOpen
  if (given.what === 'permission') {
    if (!world.granted.delete(given.principal)) world.granted.add(given.principal)
  }
  if (given.what !== 'plugin') return
  const { name } = given
  if (world.registered.delete(name)) {
    registry.unregister(name)
    return
  }
  world.registered.add(name)
  const plugin = plugins.find((each) => each.name === name)
  if (plugin?.group !== undefined) registry.registerInGroup(name, {}, plugin.group, () => `plugin ${name}`)
  else if (plugin?.conditional === true)
    registry.registerConditional(
      name,
      {},
      () => world.isOpen,
      () => `plugin ${name}`,
    )
  else registry.register(name, {}, () => `plugin ${name}`)
}

/** Returns the tools that the description of an activator names. */
const enabledBy = (description = ''): readonly string[] => /Enables: ([^.]*)\./u.exec(description)?.[1]?.split(', ') ?? []

/** Returns the error of a rejected call, without the name of the tool. */
async function refusal(peer: Peer, name: string): Promise<string> {
  try {
    await peer.call(name)
    return 'not rejected'
  } catch (error) {
    if (!isFailure(error) && !(error instanceof ProtocolError)) throw error
    const data = isFailure(error) ? { reason: error.reason, ...error.details } : (error.data as object)
    return JSON.stringify([error.message, data]).replaceAll(name, '…')
  }
}

function outcomeOf(result: Awaited<ReturnType<Peer['call']>>): 'changed' | 'unchanged' | 'failed' {
  if (result.isError === true) return 'failed'
  return (replyData(result) as { changed?: boolean } | undefined)?.changed === true ? 'changed' : 'unchanged'
}

function reasonOfFailure(error: unknown): string {
  if (!isFailure(error)) throw error
  return error.reason
}

/** A client, with its scope if it has one. */
type Connect = (index: number, principal: string) => Promise<{ readonly peer: Peer; readonly scope: string | undefined }>

/** Applies the actions to the system and to the model, and compares both after each action. */
export async function agree(actions: readonly Action[], made: System, connect: Connect): Promise<void> {
  const { toolbox, world } = made
  const open = async (index: number) => ({
    ...(await connect(index, principals[index] ?? '')),
    model: new ModelClient(world, principals[index] ?? '', eras[index] ?? 'session'),
  })
  const clients = await Promise.all(principals.map((_, index) => open(index)))
  const at = (index: number) => clients[index] ?? expect.unreachable('unknown client')
  const everyoneHears = () => {
    for (const { model } of clients) model.hear()
  }

  const perform = async (given: Action): Promise<void> => {
    if (given.kind === 'world') {
      for (const each of given.changes) changeWorld(made, each)
      if (given.changes.some(({ what }) => what === 'plugin')) everyoneHears()
      return
    }
    if (given.kind === 'announce') {
      toolbox.toolListChanged()
      everyoneHears()
      return
    }
    const { peer, model, scope } = at(given.client)
    if (given.kind === 'open') {
      for (const each of pathTo(given.group)) await perform({ kind: 'activate', client: given.client, group: each })
    }
    if (given.kind === 'activate' || given.kind === 'deactivate') {
      const expected = model[given.kind](given.group)
      const name = given.kind === 'activate' ? `activate_${given.group}` : 'deactivate'
      expect(outcomeOf(await peer.call(name, { group: given.group }))).toBe(expected)
    }
    if (given.kind === 'activate for') {
      const isForAll = given.whom === 'all' || scope === undefined
      const chosen = isForAll ? clients : [at(given.client)]
      const outcomes = chosen.map((each) => each.model.activate(given.group))
      const done = toolbox.activate(given.group, isForAll ? 'all' : scope)
      expect(await done.catch(reasonOfFailure)).toBe(outcomes.includes('failed') ? 'group_inactive' : undefined)
      // Outside a call, views are re-evaluated even if the activation did not change.
      for (const each of chosen) each.model.hear()
    }
    if (given.kind === 'call') {
      const { name } = given
      if (model.list.includes(name)) {
        const isOwn = declaredTools.some((tool) => tool.name === name)
        expect(textOf(await peer.call(name))).toBe(isOwn ? `${name} for ${model.principal}` : `plugin ${name}`)
      } else {
        expect(await refusal(peer, name)).toBe(await refusal(peer, unknownName))
      }
    }
    if (given.kind === 'reconnect') {
      await peer.close()
      clients[given.client] = await open(given.client)
    }
  }

  try {
    for (const given of actions) {
      await perform(given)
      await Promise.all(clients.map(({ peer, model }) => peer.settled(model.notices)))
      for (const { peer, model } of clients) {
        const listed = await peer.tools()
        expect(listed.map(({ name, description }) => [name, enabledBy(description)])).toEqual(model.described)
      }
    }
    for (const { peer, model } of clients) {
      await peer.settled(model.notices)
      expect(peer.notices).toBe(model.notices)
    }
  } finally {
    for (const { peer } of clients) await peer.close()
  }
}
