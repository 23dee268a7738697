import { isRecord, isTool, type Tool } from '@unfold-mcp/core'
import { isIdentityOf } from './identity.ts'

/** Changes since a list that this client has. */
export interface Delta {
  /** Identity of the new list. */
  readonly identity: string
  readonly added: readonly Tool[]
  readonly changed: readonly Tool[]
  readonly removed: readonly string[]
}

/** Parses a delta; `undefined` if the server does not remember the list. */
export function parseDelta(value: unknown): Delta | undefined {
  if (!isRecord(value) || value.known !== true || typeof value.identity !== 'string') return undefined
  const { identity, added, changed, removed } = value
  if (!Array.isArray(added) || !Array.isArray(changed) || !Array.isArray(removed)) return undefined
  if (!added.every(isTool) || !changed.every(isTool) || !removed.every((name) => typeof name === 'string')) return undefined
  return { identity, added, changed, removed }
}

/** Applies a delta; `undefined` if the result does not have the identity from the server. */
export function applyDelta(tools: readonly Tool[], { identity, added, changed, removed }: Delta): readonly Tool[] | undefined {
  const removedNames = new Set(removed)
  const changedTools = new Map(changed.map((tool) => [tool.name, tool]))
  const kept = tools.filter((tool) => !removedNames.has(tool.name)).map((tool) => changedTools.get(tool.name) ?? tool)
  const list = [...kept, ...added]
  return isIdentityOf(identity, list) ? list : undefined
}
