import type { CallToolResult } from '@modelcontextprotocol/server'
import { declarationsOf, type ToolDeclaration } from '@unfold-mcp/core'
import { readerKey } from '../../runtime/list-identity.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { Scope } from '../../scope/scope.ts'
import { askedTools, noneOf, withCost } from './search-tools.ts'

export interface DescribeRequest {
  readonly names: readonly string[]
  readonly as?: 'typescript'
}

/** `describe_tools` as TypeScript: signatures for scripts, with result types that this reader's own calls have shown. */
export function declareTools(runtime: Runtime, scope: Scope, names: readonly string[]): CallToolResult {
  const { tools, unknown, known } = askedTools(runtime, scope, names)
  if (tools.length === 0) return noneOf(unknown, 'search_tools')
  const reader = readerKey(scope)

  const declarations = tools.map((tool) => ({
    tool,
    path: scriptPath(tool.name, known),
    observed: runtime.shapes.schemaOf(reader, tool),
  }))
  return withCost([declarationsOf(declarations), ...unknown.map((line) => `// ${line}`)], {
    names: tools.map(({ name }) => name),
  })
}

const separator = '__'

/** `tools.github.create_issue` for the gateway's `github__create_issue`, unless a tool has the name of the server. */
function scriptPath(name: string, known: ReadonlySet<string>): ToolDeclaration['path'] {
  const at = name.indexOf(separator)
  const [server, tool] = [name.slice(0, at), name.slice(at + separator.length)]
  return at <= 0 || tool === '' || known.has(server) ? [name] : [server, tool]
}
