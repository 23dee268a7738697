import type { Tool } from '@unfold-mcp/core'
import { discoverable } from '../../runtime/discoverable.ts'
import type { DiscoveryCall } from '../discovery/discovery-call.ts'
import { toolsByName } from './script-call.ts'
import type { StoredScript } from './stored-script.ts'

/** The tools that a script may call. A stored one also reaches what is hidden from lists, and what was granted to it. */
export function reachableTools(
  { runtime, scope }: Pick<DiscoveryCall, 'runtime' | 'scope'>,
  stored: StoredScript | undefined,
): ReadonlyMap<string, Tool> {
  if (stored === undefined) return toolsByName(discoverable(runtime, scope).tools)
  const { forbidden, unavailable } = runtime.views.inputs(scope)
  const granted = [...forbidden].filter((entry) => stored.grants(entry.tool.name) && !unavailable.has(entry))
  return toolsByName([...granted.map(({ tool }) => tool), ...runtime.views.permitted(scope).tools])
}
