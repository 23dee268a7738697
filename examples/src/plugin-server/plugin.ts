import type { ToolRegistry } from '@unfold-mcp/server'

/** Tools that come and go together. */
export interface Plugin {
  readonly name: string
  readonly description: string
  /** Registers each of the plugin's tools. */
  readonly tools: (register: ToolRegistry['register']) => void
}

/** What is told of tools that compute and touch nothing. */
export const pure = { annotations: { readOnlyHint: true, openWorldHint: false } } as const
