import { canonicalJson } from '@unfold-mcp/core'
import type { Config } from '../config/schema.ts'

/** Names of what changed. */
export interface Changes {
  readonly added: readonly string[]
  readonly removed: readonly string[]
  readonly changed: readonly string[]
}

/** Differences between two configurations: names only, because values may be secrets. */
export interface ConfigChanges {
  readonly servers: Changes
  readonly tokens: Changes
  /** Other top-level keys that changed. */
  readonly settings: readonly string[]
}

/** Compares two configurations. */
export function configChanges(before: Config, after: Config): ConfigChanges {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)] as (keyof Config)[])
  return {
    servers: changesOf(before.mcpServers, after.mcpServers),
    tokens: changesOf(byName(before), byName(after)),
    settings: [...keys].filter((key) => key !== 'mcpServers' && key !== 'tokens' && !isEqual(before[key], after[key])),
  }
}

type Named = { readonly [name: string]: unknown }

const byName = ({ tokens }: Config): Named => Object.fromEntries(tokens.map((token) => [token.name, token]))

function changesOf(before: Named, after: Named): Changes {
  return {
    added: Object.keys(after).filter((name) => !Object.hasOwn(before, name)),
    removed: Object.keys(before).filter((name) => !Object.hasOwn(after, name)),
    changed: Object.keys(after).filter((name) => Object.hasOwn(before, name) && !isEqual(before[name], after[name])),
  }
}

const isEqual = (one: unknown, other: unknown): boolean => canonicalJson(one ?? null) === canonicalJson(other ?? null)
