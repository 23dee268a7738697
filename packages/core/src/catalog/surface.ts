/** Reserved names of the tools that search, describe, call and enable others, or run scripts over them. */
export const surfaceNames: ReadonlySet<string> = new Set([
  'manage_tools',
  'search_tools',
  'describe_tools',
  'call_tool',
  'call_tool_read',
  'call_tool_write',
  'call_tool_destructive',
  'run_code',
])
