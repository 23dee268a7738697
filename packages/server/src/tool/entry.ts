import type { Entry, GroupDeclaration, Tool } from '@unfold-mcp/core'
import { metaKeys } from '@unfold-mcp/core'
import type { Schema } from '../schema/schema.ts'
import type { ToolContext } from './context.ts'
import type { HandlerResult } from './result.ts'

/** What runs when a tool is called. */
export type ToolHandler<Input = never, Context = ToolContext> = (
  input: Input,
  ctx: Context,
) => HandlerResult | Promise<HandlerResult>

/** A tool with its handler and everything that decides who sees it and when. */
export interface ToolEntry extends Entry {
  readonly handler: ToolHandler
  readonly input: Schema
  readonly output?: Schema
  /** How long a call may take, when it differs from the server's own limit. */
  readonly timeoutMs?: number
  /** The entry as it is in the catalogue, where this one is as a view shows it. */
  readonly declared?: ToolEntry
  /** `operations/discovery` runs it on the caller's scope, in place of the handler. */
  readonly isDiscovery?: boolean
}

/** Whatever provides entries and announces that they changed. */
export interface Source {
  readonly name: string
  entries(): readonly ToolEntry[]
  /** Groups that come and go with the source, beside those that were declared. */
  groups?(): { readonly [name: string]: Omit<GroupDeclaration, 'strict'> }
  /** Calls `changed` at every change, with the entry that is being added if one is; it throws to refuse that entry. */
  subscribe(changed: (added?: ToolEntry) => void): () => void
}

/** The definition with its version in `_meta`, when it has one. */
export function withVersion(tool: Tool, version: string | undefined): Tool {
  return version === undefined ? tool : { ...tool, _meta: { ...tool._meta, [metaKeys.version]: version } }
}
