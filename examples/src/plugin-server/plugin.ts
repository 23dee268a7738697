import type { ToolRegistry } from '@unfold-mcp/server'

/** Tools that are registered and unregistered together. */
export interface Plugin {
  readonly name: string
  readonly description: string
  /** Registers each of the plugin's tools. */
  readonly tools: (register: ToolRegistry['register']) => void
}

/** Annotations of tools without side effects. */
export const pure = { annotations: { readOnlyHint: true, openWorldHint: false } } as const
