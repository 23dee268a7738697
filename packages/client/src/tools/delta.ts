import type { Tool } from '@unfold-mcp/core'
import { isRecord } from '@unfold-mcp/core'
import { isIdentityOf } from './identity.ts'

/** What a server answers to the question what has changed since a list that this client has. */
export interface Delta {
  /** The identity of the list as it is now. */
  readonly identity: string
  readonly added: readonly Tool[]
  readonly changed: readonly Tool[]
  readonly removed: readonly string[]
}

/** The answer, or `undefined` when the server does not remember that list. */
export function parseDelta(value: unknown): Delta | undefined {
  if (!isRecord(value) || value.known !== true || typeof value.identity !== 'string') return undefined
  const { identity, added, changed, removed } = value
  if (!Array.isArray(added) || !Array.isArray(changed) || !Array.isArray(removed)) return undefined
  if (!added.every(isTool) || !changed.every(isTool) || !removed.every((name) => typeof name === 'string')) return undefined
  return { identity, added, changed, removed }
}

/** The list with these changes made; `undefined` when that is not the list whose identity the server named. */
export function applied(tools: readonly Tool[], { identity, added, changed, removed }: Delta): readonly Tool[] | undefined {
  const gone = new Set(removed)
  const other = new Map(changed.map((tool) => [tool.name, tool]))
  const list = [...tools.filter((tool) => !gone.has(tool.name)).map((tool) => other.get(tool.name) ?? tool), ...added]
  return isIdentityOf(identity, list) ? list : undefined
}

const isTool = (value: unknown): value is Tool =>
  isRecord(value) && typeof value.name === 'string' && value.name !== '' && isRecord(value.inputSchema)
