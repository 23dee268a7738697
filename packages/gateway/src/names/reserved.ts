import { confusableKey, isToolName, surfaceNames } from '@unfold-mcp/core'

const withoutGroups: ReadonlySet<string> = new Set([...surfaceNames, 'read_result'])

/** Names of the gateway's own tools in any exposure mode. */
export const reservedNames: ReadonlySet<string> = new Set([...withoutGroups, 'activate', 'deactivate'])

/** True if a tool can keep its original name where its server is served alone (without groups). */
export const isServable = (own: string): boolean => isToolName(own) && !withoutGroups.has(own)

const reservedKeys = new Set([...reservedNames].map(confusableKey))
const activator = confusableKey('activate_')

/** True if a configured tool name is, or resembles, one of the gateway's own. */
export function isReserved(name: string): boolean {
  const key = confusableKey(name)
  return reservedKeys.has(key) || key.startsWith(activator)
}
