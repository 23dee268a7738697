import { canonicalJson } from '@unfold-mcp/core'
import type { Config, ServerConfig } from './schema.ts'

/** What an edit changed. */
export interface ConfigDiff {
  readonly added: readonly string[]
  readonly removed: readonly string[]
  /** Servers that are reached or started in another way now, so that their connection must be made anew. */
  readonly changed: readonly string[]
  /** Servers of which only the use or the look changed: their connection stays. */
  readonly adjusted: readonly string[]
  /** Everything else that changed, by its key. */
  readonly others: readonly (keyof Config)[]
  readonly isEmpty: boolean
}

const reaching = ['type', 'command', 'args', 'env', 'cwd', 'url', 'headers', 'disabled'] as const

/** What differs between two configurations. The order of keys and the way they are written do not count. */
export function diffConfig(before: Config, after: Config): ConfigDiff {
  const old = new Map(Object.entries(before.mcpServers))
  const added: string[] = []
  const changed: string[] = []
  const adjusted: string[] = []
  for (const [name, server] of Object.entries(after.mcpServers)) {
    const other = old.get(name)
    old.delete(name)
    if (other === undefined) added.push(name)
    else if (!same(reach(other), reach(server))) changed.push(name)
    else if (!same(other, server)) adjusted.push(name)
  }
  const removed = [...old.keys()]
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]) as ReadonlySet<keyof Config>
  const others = [...keys].filter((key) => key !== 'mcpServers' && key !== '$schema' && !same(before[key], after[key]))
  const isEmpty = [added, removed, changed, adjusted, others].every(({ length }) => length === 0)
  return { added, removed, changed, adjusted, others, isEmpty }
}

/** The part of a definition that decides which server answers. */
export function reach(server: ServerConfig): { readonly [key: string]: unknown } {
  return Object.fromEntries(Object.entries(server).filter(([key]) => reaching.some((each) => each === key)))
}

const same = (a: unknown, b: unknown): boolean => canonicalJson(a) === canonicalJson(b)
