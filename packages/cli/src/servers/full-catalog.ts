import { setTimeout as pause } from 'node:timers/promises'
import type { Connection, Identity, OutlinedTool, Target } from '@unfold-mcp/client'
import { isRecord } from '@unfold-mcp/core'

export interface ToolChange {
  readonly added: readonly string[]
  readonly removed: readonly string[]
  readonly changed: readonly string[]
  readonly count: number
  readonly identity?: string
}

/** The target with `?exposure=everything`; undefined if it is not a URL or already requests a view. */
export function fullListTarget(target: Target): Target | undefined {
  if (!('url' in target) || !URL.canParse(target.url)) return undefined
  const url = new URL(target.url)
  if (['exposure', 'groups', 'tags'].some((name) => url.searchParams.has(name))) return undefined
  url.searchParams.set('exposure', 'everything')
  return { ...target, url: url.href }
}

export interface CatalogOptions {
  readonly signal: AbortSignal
  /** Polling interval: clients are not notified of changes to unlisted tools. */
  readonly intervalMs?: number
}

/** Polls for changes to all tools, for servers without a URL. */
export async function* catalogChanges(
  connection: Pick<Connection, 'identity' | 'outline'>,
  initial: readonly OutlinedTool[],
  { signal, intervalMs = 1_000 }: CatalogOptions,
): AsyncGenerator<ToolChange> {
  let before = initial
  let known: string | undefined
  while (!signal.aborted) {
    const identity = catalogIdentity(await connection.identity())
    if (identity !== known || identity === undefined) {
      known = identity
      const tools = (await connection.outline())?.tools ?? before
      const change = changeBetween(before, tools)
      before = tools
      if (change !== undefined) yield { ...change, ...(identity !== undefined && { identity }) }
    }
    await pause(intervalMs, undefined, { signal }).catch(() => undefined)
  }
}

function catalogIdentity(identity: Identity | undefined): string | undefined {
  const catalog = identity?.catalog
  return isRecord(catalog) && typeof catalog.identity === 'string' ? catalog.identity : undefined
}

function changeBetween(before: readonly OutlinedTool[], after: readonly OutlinedTool[]): ToolChange | undefined {
  const known = new Map(before.map((tool) => [tool.name, tool]))
  const current = new Set(after.map(({ name }) => name))
  const names = (tools: readonly OutlinedTool[]): readonly string[] => tools.map(({ name }) => name)
  const isChanged = (tool: OutlinedTool): boolean => {
    const old = known.get(tool.name)
    return old !== undefined && (old.identity !== tool.identity || old.tokens !== tool.tokens)
  }
  const added = names(after.filter(({ name }) => !known.has(name)))
  const removed = names(before.filter(({ name }) => !current.has(name)))
  const changed = names(after.filter(isChanged))
  if (added.length + removed.length + changed.length === 0) return undefined
  return { added, removed, changed, count: after.length }
}
