import type { InitializeRequestParams, McpServer, Server } from '@modelcontextprotocol/server'
import type { Runtime } from '../runtime/runtime.ts'
import type { Scope } from '../scope/scope.ts'
import type { Era } from '../tool/context.ts'
import type { Source, ToolEntry } from '../tool/entry.ts'
import type { Principal } from '../tool/principal.ts'

/** What is known of a client when its scope opens. */
export interface Newcomer {
  readonly era: Era
  readonly principal?: Principal | undefined
  /** The HTTP request it came with. */
  readonly request?: (() => Request) | undefined
  /** The id of its session over HTTP. */
  readonly sessionId?: string | undefined
  /** What it said of itself when it initialised. */
  readonly client?: InitializeRequestParams | undefined
}

/**
 * A protocol server that was made for one scope, and the tools that it brought: only that scope has them. `entries` is
 * another array after every change.
 */
export interface Product extends Source {
  /** What the server calls itself. */
  readonly info: { readonly name: string; readonly version: string }
  /** Done when `entries` is what the server would list now. */
  upToDate(): Promise<void>
  /** Reads the tools again, of a server made anew where this one answers nobody; a failure is reported. */
  refresh(): void
  /** The server to connect, with the runtime answering for its tools; `introduces` itself where a client may ask about it. */
  serve(runtime: Runtime, scope: Scope, introduces: boolean): Server | McpServer
  close(): Promise<void>
}

/** Makes the server for one scope; `admit` throws for an entry that cannot be served. */
export type MakeProduct = (newcomer: Newcomer, admit: (entry: ToolEntry) => void) => Promise<Product>
