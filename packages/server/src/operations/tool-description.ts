import {
  exampleOf,
  Failure,
  facetOf,
  gateName,
  nearest,
  nearestHint,
  printable,
  signature,
  type Tool,
  type ToolDescription,
  toolIdentity,
  toolTokens,
} from '@unfold-mcp/core'
import { discoverable } from '../runtime/discoverable.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Scope } from '../scope/scope.ts'
import { sha256 } from '../view/identities.ts'

/** Describes a tool that exists for this scope, listed or not. */
export function describeTool(runtime: Runtime, scope: Scope, name: string): ToolDescription {
  const { entries } = discoverable(runtime, scope)
  const { aliases } = runtime.catalogs.of(scope).catalog
  const real = aliases.get(name) ?? name
  const listed = runtime.views.rendered(scope).entries
  const entry = entries.find(({ tool }) => tool.name === real) ?? listed.find(({ tool }) => tool.name === real)
  if (entry === undefined) {
    const close = nearest(
      name,
      entries.map(({ tool }) => tool.name),
    )
    const shown = printable(name)
    throw new Failure('unknown_tool', `Tool "${shown}" not found.${nearestHint(close)}`, { name: shown, nearest: close })
  }
  const { tool, tags, version, after } = entry
  const { group } = entry.visibility
  return {
    tool,
    identity: toolIdentity(tool, sha256),
    signature: signature(tool),
    examples: examplesOf(tool),
    facet: facetOf(tool),
    tokens: toolTokens(tool),
    ...(group !== undefined && group !== gateName && { group }),
    ...(tags.length > 0 && { tags }),
    ...(version !== undefined && { version }),
    ...(entry.aliases.length > 0 && { aliases: entry.aliases }),
    // A tool that does not exist for this client is not named.
    ...(typeof after === 'string' && entries.some((each) => each.tool.name === after) && { after }),
    listed: listed.some((each) => each.tool.name === tool.name),
  }
}

function examplesOf({ inputSchema }: Tool): readonly unknown[] {
  const least = exampleOf(inputSchema)
  const all = exampleOf({ ...inputSchema, required: Object.keys(inputSchema.properties ?? {}) })
  return JSON.stringify(least) === JSON.stringify(all) ? [least] : [least, all]
}
