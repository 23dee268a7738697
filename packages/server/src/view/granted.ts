import type { ViewInputs } from '@unfold-mcp/core'
import type { ToolEntry } from '../tool/entry.ts'

/** View inputs with the tools that were granted by name, although the scope may not use them. */
export function inputsWith(
  grants: ((tool: string) => boolean) | undefined,
  inputs: ViewInputs<ToolEntry>,
): ViewInputs<ToolEntry> {
  if (grants === undefined || inputs.forbidden.size === 0) return inputs
  return { ...inputs, forbidden: new Set([...inputs.forbidden].filter(({ tool }) => !grants(tool.name))) }
}
