import { nearest, printable } from '@unfold-mcp/core'
import type { ServerConfig, ToolOverride } from '../config/schema.ts'
import { matcher } from '../names/pattern.ts'

/** Tool settings of one server from the configuration. */
export interface Overrides {
  isEnabled(tool: string): boolean
  of(tool: string): ToolOverride
  /** Messages about configured tools that the server does not have. */
  unknownTools(tools: ReadonlySet<string>): readonly string[]
}

/** `enabled: true` for a tool wins over `deny`. */
export function readOverrides({ tools, allow, deny }: Pick<ServerConfig, 'tools' | 'allow' | 'deny'>): Overrides {
  const isAllowed = allow === undefined ? () => true : matcher(allow)
  const isDenied = matcher(deny)
  const of = (tool: string): ToolOverride => (Object.hasOwn(tools, tool) ? (tools[tool] ?? {}) : {})
  return {
    of,
    isEnabled: (tool) => of(tool).enabled ?? (isAllowed(tool) && !isDenied(tool)),
    unknownTools(known) {
      const exactNames = [...(allow ?? []), ...deny].filter((pattern) => !pattern.includes('*'))
      return [...new Set([...Object.keys(tools), ...exactNames])]
        .filter((name) => !known.has(name))
        .map((name) => {
          const [close] = nearest(name, known, 1)
          const hint = close === undefined ? '' : ` Did you mean "${printable(close)}"?`
          return `The configuration mentions the tool "${printable(name)}", which the server does not have.${hint}`
        })
    },
  }
}
