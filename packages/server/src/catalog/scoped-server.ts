import type { InitializeRequestParams } from '@modelcontextprotocol/server'
import type { Era } from '../tool/context.ts'
import type { Source, ToolEntry } from '../tool/entry.ts'
import type { Principal } from '../tool/principal.ts'

/** A client whose scope is being opened. */
export interface ConnectingClient {
  readonly era: Era
  readonly principal?: Principal | undefined
  /** Key of the client's share of all limits. */
  readonly share?: string | undefined
  readonly request?: (() => Request) | undefined
  readonly sessionId?: string | undefined
  /** The params of its `initialize` request. */
  readonly client?: InitializeRequestParams | undefined
}

/** A protocol server that was created for one scope, with tools that only this scope has. `entries` returns a new array after every change. */
export interface ScopedServer extends Source {
  readonly info: { readonly name: string; readonly version: string }
  /** Resolves when `entries` matches the server's current list. */
  upToDate(): Promise<void>
  /** Reads the tools again, from a new server if this one does not respond; failures are reported. */
  refresh(): void
  close(): Promise<void>
}

/** Creates the server of one scope; `admit` throws for an entry that cannot be served. */
export type MakeScopedServer = (client: ConnectingClient, admit: (entry: ToolEntry) => void) => Promise<ScopedServer>
