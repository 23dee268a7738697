import { surfaceNames } from '@unfold-mcp/core'
import { lookKey } from './naming.ts'

/** Names of the tools that the gateway itself may show, under one exposure or another. */
export const reservedNames: ReadonlySet<string> = new Set([...surfaceNames, 'activate', 'deactivate', 'read_result'])

const looks = new Set([...reservedNames].map(lookKey))
const activator = lookKey('activate_')

/** Whether a tool that was given this name would be, or would be taken for, one of the gateway's own. */
export function isReserved(name: string): boolean {
  const key = lookKey(name)
  return looks.has(key) || key.startsWith(activator)
}
