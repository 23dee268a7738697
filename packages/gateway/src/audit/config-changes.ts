import { canonicalJson } from '@unfold-mcp/core'
import { policyDigest } from '../config/policy/digest.ts'
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
  /** Versions of a policy that changed. */
  readonly policy: { readonly before: string; readonly after: string } | undefined
  /** Other top-level keys that changed. */
  readonly settings: readonly string[]
}

const ownRecords: ReadonlySet<keyof Config> = new Set(['mcpServers', 'tokens', 'policy'])

/** Compares two configurations. */
export function configChanges(before: Config, after: Config): ConfigChanges {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)] as (keyof Config)[])
  return {
    servers: changesOf(before.mcpServers, after.mcpServers),
    tokens: changesOf(byName(before), byName(after)),
    policy: isEqual(before.policy, after.policy) ? undefined : { before: policyDigest(before), after: policyDigest(after) },
    settings: [...keys].filter((key) => !ownRecords.has(key) && !isEqual(before[key], after[key])),
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
