import type { Tool } from '../tool/tool.ts'

/** Names of this project's extension of MCP, as they appear on the wire: see docs/protocol.md. */
export const discovery = {
  /** Key in `capabilities.extensions`. */
  extension: 'io.github.unfold-mcp/discovery',
  methods: {
    identity: 'server/identity',
    describe: 'tools/describe',
    changes: 'io.github.unfold-mcp/changes',
  },
} as const

/** Keys in `_meta`. */
export const metaKeys = {
  /** Identity of a tool list, in the result of `tools/list`. */
  identity: 'io.github.unfold-mcp/identity',
  /** Version of a tool, in its definition. */
  version: 'io.github.unfold-mcp/version',
  /** Reason of a failure, in the result of a call. */
  reason: 'io.github.unfold-mcp/reason',
  /** Structured reply of a built-in tool. */
  data: 'io.github.unfold-mcp/data',
  /** Groups that a call activated or deactivated. */
  activation: 'io.github.unfold-mcp/activation',
  /** Where to read the rest of a truncated result. */
  cut: 'io.github.unfold-mcp/cut',
  /** Secrets, and text that addresses the model, in a result. */
  findings: 'io.github.unfold-mcp/findings',
  /** Code of a stored script, in its definition. Reviewers see it, clients do not. */
  code: 'io.github.unfold-mcp/code',
} as const

/** Result of `tools/describe`. */
export interface ToolDescription {
  readonly tool: Tool
  /** Changes whenever the definition does. */
  readonly identity: string
  /** Signature on one line. */
  readonly signature: string
  /** Valid arguments: only required ones, and all if there are more. */
  readonly examples: readonly unknown[]
  readonly facet: 'read-only' | 'destructive' | 'write'
  /** About how many tokens its definition costs a model. */
  readonly tokens: number
  readonly group?: string
  readonly tags?: readonly string[]
  readonly version?: string
  /** Former names. */
  readonly aliases?: readonly string[]
  /** Prerequisite tool. */
  readonly after?: string
  /** In the current list of this client. */
  readonly listed: boolean
}

/** Tool without its definition, in a `server/identity` result. */
export interface OutlinedTool {
  readonly name: string
  /** Changes whenever the definition does; servers of earlier versions leave it out. */
  readonly identity?: string
  /** About how many tokens its definition costs a model. */
  readonly tokens: number
  readonly group?: string
}

/** Group in a `server/identity` result. */
export interface GroupOutline {
  readonly description?: string
  /** The group that contains it. */
  readonly parent?: string
  /** The tool that activates it. */
  readonly activator?: string
}
