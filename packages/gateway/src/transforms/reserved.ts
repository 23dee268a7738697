import { lookKey } from './naming.ts'

/** Names of the tools that the gateway itself may show, under one exposure or another. */
export const reservedNames: ReadonlySet<string> = new Set([
  'manage_tools',
  'search_tools',
  'describe_tools',
  'call_tool',
  'call_tool_read',
  'call_tool_write',
  'call_tool_destructive',
  'activate',
  'deactivate',
  'read_result',
])

const looks = new Set([...reservedNames].map(lookKey))
const activator = lookKey('activate_')

/** Whether a tool that was given this name would be, or would be taken for, one of the gateway's own. */
export function isReserved(name: string): boolean {
  const key = lookKey(name)
  return looks.has(key) || key.startsWith(activator)
}
