import type { Sandbox } from '@unfold-mcp/client'
import { type Item, isList, isTable, typeName } from './document.ts'

export interface SandboxContext {
  readonly expand: (item: Item, field: string) => string | undefined
  /** Absolute path of an expanded one. */
  readonly resolve: (path: string) => string
  readonly fail: (item: Item, field: string, message: string) => undefined
}

const presets = ['none', 'files', 'strict'] as const

type Preset = (typeof presets)[number]

/**
 * Reads the sandbox of a server from `unfold.json`, as the gateway does: `own` replaces `all`, the one of the whole file, and
 * inherits its preset. `undefined` for no sandbox; a mistake is reported, so that the server does not run without one.
 */
export function readSandbox(own: Item | undefined, all: Item | undefined, context: SandboxContext): Sandbox | undefined {
  const item = own ?? all
  if (item === undefined) return undefined
  const { fail } = context
  const inherited = all === undefined ? 'none' : (presetOf(all) ?? 'none')
  const preset = presetOf(item, inherited)
  if (preset === undefined) return fail(item, 'sandbox', `must be ${presets.map((each) => `"${each}"`).join(', ')} or an object`)
  const fields = isTable(item.value) ? item.value : new Map<string, Item>()
  if (preset === 'none') return isTable(item.value) ? fail(item, 'sandbox', 'needs "preset": "files" or "strict"') : undefined
  for (const [key, each] of fields)
    if (!['preset', 'read', 'write', 'network'].includes(key)) fail(each, `sandbox.${key}`, 'is not a known key')
  const network = fields.get('network')
  if (network !== undefined && typeof network.value !== 'boolean') fail(network, 'sandbox.network', 'must be true or false')
  return {
    preset,
    read: pathsOf(fields.get('read'), 'sandbox.read', context),
    write: pathsOf(fields.get('write'), 'sandbox.write', context),
    ...(typeof network?.value === 'boolean' && { network: network.value }),
  }
}

function presetOf({ value }: Item, inherited: Preset = 'none'): Preset | undefined {
  const written = isTable(value) ? value.get('preset')?.value : value
  if (isTable(value) && written === undefined) return inherited
  return presets.find((preset) => preset === written)
}

function pathsOf(item: Item | undefined, field: string, { expand, resolve, fail }: SandboxContext): readonly string[] {
  if (item === undefined) return []
  if (!isList(item.value)) return fail(item, field, `must be a list of paths, not ${typeName(item.value)}`) ?? []
  return item.value.flatMap((each, index) => {
    const path = expand(each, `${field}[${index}]`)
    return path === undefined ? [] : [resolve(path)]
  })
}
