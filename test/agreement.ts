import { ProtocolError } from '@modelcontextprotocol/client'
import { defineToolbox, isFailure, type Toolbox, ToolRegistry } from '@unfold-mcp/server'
import type { TestClient } from '@unfold-mcp/server/testing'
import { replyData } from '@unfold-mcp/server/testing'
import fc from 'fast-check'
import { expect } from 'vitest'
import { declaredTools, groups, ModelClient, plugins, type SharedState } from './model.ts'
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
  readonly notifications: number
  tools(): Promise<readonly { readonly name: string; readonly description?: string | undefined }[]>
  call(name: string, args?: Record<string, unknown>): Promise<Awaited<ReturnType<TestClient['call']>>>
  /** Waits for the expected number of notifications. */
  settled(notifications: number): Promise<void>
  close(): Promise<void>
}

/** All possible actions. `client` is an index into the clients. */
type Action =
  | { readonly kind: 'activate' | 'deactivate' | 'open'; readonly client: number; readonly group: string }
  | { readonly kind: 'activate for'; readonly whom: 'one' | 'all'; readonly client: number; readonly group: string }
  | { readonly kind: 'call'; readonly client: number; readonly name: string }
  | { readonly kind: 'list' | 'reconnect'; readonly client: number }
  | { readonly kind: 'shared'; readonly changes: readonly Change[] }
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
export const anyAction: fc.Arbitrary<Action> = fc.oneof(
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
    arbitrary: fc.record({ kind: fc.constant('shared' as const), changes: fc.array(change, { minLength: 1, maxLength: 3 }) }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: 'announce' } as const) },
)

interface System {
  readonly toolbox: Toolbox
  readonly registry: ToolRegistry
  readonly shared: SharedState
}

export function createSystem(): System {
  const shared: SharedState = { isOpen: false, granted: new Set(['ann']), registered: new Set() }
  const registry = new ToolRegistry()
  const declarations = Object.entries(groups).map(([name, { parent, needs, excludes }]) => [
    name,
    { description: name, ...(parent && { parent }), ...(needs && { needs: [needs] }), ...(excludes && { excludes: [excludes] }) },
  ])
  const restricted = new Set(declaredTools.filter((tool) => tool.restricted).map(({ name }) => name))
  const toolbox: Toolbox = defineToolbox({
    name: 'model',
    version: '1.0.0',
    groups: Object.fromEntries(declarations),
    facts: () => ({ isOpen: shared.isOpen }),
    permit: (principal, { name }) => !restricted.has(name) || shared.granted.has(principal?.id ?? ''),
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
  return { toolbox: toolbox.use(registry), registry, shared }
}

function changeShared({ registry, shared }: System, action: Change): void {
  if (action.what === 'condition') shared.isOpen = !shared.isOpen
  if (action.what === 'permission') {
    if (!shared.granted.delete(action.principal)) shared.granted.add(action.principal)
  }
  if (action.what !== 'plugin') return
  const { name } = action
  if (shared.registered.delete(name)) {
    registry.unregister(name)
    return
  }
  shared.registered.add(name)
  const plugin = plugins.find((each) => each.name === name)
  if (plugin?.group !== undefined) registry.registerInGroup(name, {}, plugin.group, () => `plugin ${name}`)
  else if (plugin?.conditional === true)
    registry.registerConditional(
      name,
      {},
      () => shared.isOpen,
      () => `plugin ${name}`,
    )
  else registry.register(name, {}, () => `plugin ${name}`)
}

/** Returns the tools that the description of an activator names. */
const enabledBy = (description = ''): readonly string[] => /Enables: ([^.]*)\./u.exec(description)?.[1]?.split(', ') ?? []

/** Returns the error of a rejected call, without the name of the tool. */
async function rejection(peer: Peer, name: string): Promise<string> {
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
export async function agree(actions: readonly Action[], system: System, connect: Connect): Promise<void> {
  const { toolbox, shared } = system
  const open = async (index: number) => ({
    ...(await connect(index, principals[index] ?? '')),
    model: new ModelClient(shared, principals[index] ?? '', eras[index] ?? 'session'),
  })
  const clients = await Promise.all(principals.map((_, index) => open(index)))
  const at = (index: number) => clients[index] ?? expect.unreachable('unknown client')
  const notifyAll = () => {
    for (const { model } of clients) model.notifyIfChanged()
  }

  const perform = async (action: Action): Promise<void> => {
    if (action.kind === 'shared') {
      for (const each of action.changes) changeShared(system, each)
      if (action.changes.some(({ what }) => what === 'plugin')) notifyAll()
      return
    }
    if (action.kind === 'announce') {
      toolbox.toolListChanged()
      notifyAll()
      return
    }
    const { peer, model, scope } = at(action.client)
    if (action.kind === 'open') {
      for (const each of pathTo(action.group)) await perform({ kind: 'activate', client: action.client, group: each })
    }
    if (action.kind === 'activate' || action.kind === 'deactivate') {
      const expected = model[action.kind](action.group)
      const name = action.kind === 'activate' ? `activate_${action.group}` : 'deactivate'
      expect(outcomeOf(await peer.call(name, { group: action.group }))).toBe(expected)
    }
    if (action.kind === 'activate for') {
      const isForAll = action.whom === 'all' || scope === undefined
      const chosen = isForAll ? clients : [at(action.client)]
      const outcomes = chosen.map((each) => each.model.activate(action.group))
      const done = toolbox.activate(action.group, isForAll ? 'all' : scope)
      expect(await done.catch(reasonOfFailure)).toBe(outcomes.includes('failed') ? 'group_inactive' : undefined)
      // Outside a call, views are re-evaluated even if the activation did not change.
      for (const each of chosen) each.model.notifyIfChanged()
    }
    if (action.kind === 'call') {
      const { name } = action
      if (model.list.includes(name)) {
        const isOwn = declaredTools.some((tool) => tool.name === name)
        expect(textOf(await peer.call(name))).toBe(isOwn ? `${name} for ${model.principal}` : `plugin ${name}`)
      } else {
        expect(await rejection(peer, name)).toBe(await rejection(peer, unknownName))
      }
    }
    if (action.kind === 'reconnect') {
      await peer.close()
      clients[action.client] = await open(action.client)
    }
  }

  try {
    for (const action of actions) {
      await perform(action)
      await Promise.all(clients.map(({ peer, model }) => peer.settled(model.notifications)))
      for (const { peer, model } of clients) {
        const listed = await peer.tools()
        expect(listed.map(({ name, description }) => [name, enabledBy(description)])).toEqual(model.described)
      }
    }
    for (const { peer, model } of clients) {
      await peer.settled(model.notifications)
      expect(peer.notifications).toBe(model.notifications)
    }
  } finally {
    for (const { peer } of clients) await peer.close()
  }
}
