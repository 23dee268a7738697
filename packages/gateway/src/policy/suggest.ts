import { dirname } from 'node:path'
import { isRecord } from '@unfold-mcp/core'
import type { PolicyRule } from '../config/policy/schema.ts'

/** A recorded call. */
export interface RecordedCall {
  readonly upstream: string
  readonly tool: string
  readonly outcome: string
  /** If they were recorded. */
  readonly arguments?: unknown
}

/** A policy as it is written in the configuration. */
export interface SuggestedPolicy {
  readonly rules: readonly PolicyRule[]
}

const sent: ReadonlySet<string> = new Set(['ok', 'error', 'input_required'])

/** True for a call that reached its server. */
export const wasSent = ({ outcome }: Pick<RecordedCall, 'outcome'>): boolean => sent.has(outcome)

/**
 * Proposes rules that allow what was called, in the folders that were used if arguments were recorded, and ask about other destructive
 * tools.
 */
export function suggestPolicy(calls: readonly RecordedCall[]): SuggestedPolicy {
  const groups = new Map<string, { readonly server: string; readonly tools: string[]; readonly path: PolicyRule['path'] }>()
  const byTool = new Map<string, RecordedCall[]>()
  for (const call of calls.filter(wasSent)) {
    const key = JSON.stringify([call.upstream, call.tool])
    const known = byTool.get(key)
    if (known === undefined) byTool.set(key, [call])
    else known.push(call)
  }
  for (const [key, ofTool] of [...byTool].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
    const [server = '', tool = ''] = JSON.parse(key) as readonly string[]
    const path = usedFolders(ofTool)
    const group = groups.get(JSON.stringify([server, path])) ?? { server, tools: [], path }
    groups.set(JSON.stringify([server, path]), group)
    group.tools.push(tool)
  }
  const allowed = [...groups.values()].map(
    ({ server, tools, path }): PolicyRule => ({ effect: 'allow', server, tool: tools, ...(path !== undefined && { path }) }),
  )
  const others: PolicyRule = { effect: 'ask', reason: 'This has not been used before.', annotations: { destructive: true } }
  return { rules: [...allowed, others] }
}

// A folder such as /home is no limit.
const minDepth = 2

/** The folders of the arguments that were absolute paths in every call; `undefined` if there are none. */
function usedFolders(calls: readonly RecordedCall[]): PolicyRule['path'] {
  const inputs = calls.map(({ arguments: input }) => (isRecord(input) ? input : {}))
  const found = Object.keys(inputs[0] ?? {}).flatMap((name) => {
    const values = inputs.flatMap((input) => (Array.isArray(input[name]) ? (input[name] as unknown[]) : [input[name]]))
    const folder = values.every(isPath) ? commonFolder(values) : undefined
    return folder === undefined ? [] : [{ name, folder }]
  })
  if (found.length === 0) return undefined
  return { argument: found.map(({ name }) => name), inside: [...new Set(found.map(({ folder }) => folder))].toSorted() }
}

const isPath = (value: unknown): value is string => typeof value === 'string' && /^\/[^/]/u.test(value) && !value.includes('/../')

function commonFolder(paths: readonly string[]): string | undefined {
  const [first = [], ...others] = paths.map((path) => dirname(path).split('/').slice(1))
  let depth = first.length
  for (const other of others) while (first.slice(0, depth).join('/') !== other.slice(0, depth).join('/')) depth--
  return depth < minDepth ? undefined : `/${first.slice(0, depth).join('/')}`
}
