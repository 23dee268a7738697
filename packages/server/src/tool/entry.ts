import type { Entry, GroupDeclaration, Tool } from '@unfold-mcp/core'
import { metaKeys } from '@unfold-mcp/core'
import type { Schema } from '../schema/schema.ts'
import type { ToolContext } from './context.ts'
import type { HandlerResult } from './result.ts'

/** The function behind a tool. */
export type ToolHandler<Input = never, Context = ToolContext> = (
  input: Input,
  ctx: Context,
) => HandlerResult | Promise<HandlerResult>

/** A tool with its handler, and the rules that decide who sees it and when. */
export interface ToolEntry extends Entry {
  readonly handler: ToolHandler
  readonly input: Schema
  readonly output?: Schema
  /** Overrides the server's `callTimeoutMs`. */
  readonly timeoutMs?: number
  /** The entry in the catalogue from which a view made this one. */
  readonly declared?: ToolEntry
  /** The handler runs a script, whose calls take the slots. */
  readonly runsScript?: boolean
  /** `operations/discovery` runs it on the caller's scope, in place of the handler. */
  readonly isDiscovery?: boolean
}

/** Provides entries and announces their changes. */
export interface Source {
  readonly name: string
  entries(): readonly ToolEntry[]
  /** Groups that come and go with the source, in addition to declared ones. */
  groups?(): { readonly [name: string]: Omit<GroupDeclaration, 'strict'> }
  /** Calls `changed` after every change. If an entry is being added, it is passed, and `changed` throws to refuse it. */
  subscribe(changed: (added?: ToolEntry) => void): () => void
}

export function withVersion(tool: Tool, version: string | undefined): Tool {
  return version === undefined ? tool : { ...tool, _meta: { ...tool._meta, [metaKeys.version]: version } }
}
