import type { Tool } from '@unfold-mcp/core'
import { nearest, printable } from '@unfold-mcp/core'
import type { ServerConfig, ToolOverride } from '../config/schema.ts'
import { matcher } from '../names/pattern.ts'

/** What the configuration says of a server's tools. */
export interface Overrides {
  /** Whether anybody may see a tool of this name. */
  isEnabled(tool: string): boolean
  of(tool: string): ToolOverride
  /** What the configuration says of tools that are not among these, in words. */
  strays(tools: ReadonlySet<string>): readonly string[]
}

/** Reads what the configuration says of a server's tools. A tool that is switched on by name is there whatever `deny` says. */
export function readOverrides({ tools, allow, deny }: Pick<ServerConfig, 'tools' | 'allow' | 'deny'>): Overrides {
  const isAllowed = allow === undefined ? () => true : matcher(allow)
  const isDenied = matcher(deny)
  const of = (tool: string): ToolOverride => (Object.hasOwn(tools, tool) ? (tools[tool] ?? {}) : {})
  return {
    of,
    isEnabled: (tool) => of(tool).enabled ?? (isAllowed(tool) && !isDenied(tool)),
    strays(known) {
      const plain = [...(allow ?? []), ...deny].filter((pattern) => !pattern.includes('*'))
      const named = new Set([...Object.keys(tools), ...plain])
      return [...named]
        .filter((name) => !known.has(name))
        .map((name) => {
          const [close] = nearest(name, known, 1)
          const hint = close === undefined ? '' : ` Did you mean "${printable(close)}"?`
          return `The configuration names the tool "${printable(name)}", which the server does not have.${hint}`
        })
    },
  }
}

/** The tool as clients see it. */
export function applyOverride(tool: Tool, name: string, { description }: ToolOverride): Tool {
  return { ...tool, name, ...(description !== undefined && { description }) }
}
