/** Names of the tools that find, describe, call and enable others: shown under one exposure or another, so no source may take them. */
export const surfaceNames: ReadonlySet<string> = new Set([
  'manage_tools',
  'search_tools',
  'describe_tools',
  'call_tool',
  'call_tool_read',
  'call_tool_write',
  'call_tool_destructive',
])
