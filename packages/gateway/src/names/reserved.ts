import { isToolName, surfaceNames } from '@unfold-mcp/core'
import { lookKey } from './naming.ts'

const withoutGroups: ReadonlySet<string> = new Set([...surfaceNames, 'read_result'])

/** Names of the tools that the gateway itself may show, under one exposure or another. */
export const reservedNames: ReadonlySet<string> = new Set([...withoutGroups, 'activate', 'deactivate'])

/** Whether a tool can be shown under an upstream's own name for it, where that upstream is served alone and there are no groups. */
export const isServable = (own: string): boolean => isToolName(own) && !withoutGroups.has(own)

const looks = new Set([...reservedNames].map(lookKey))
const activator = lookKey('activate_')

/** Whether a tool that was given this name would be, or would be taken for, one of the gateway's own. */
export function isReserved(name: string): boolean {
  const key = lookKey(name)
  return looks.has(key) || key.startsWith(activator)
}
