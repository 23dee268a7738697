import type { McpServer, Server } from '@modelcontextprotocol/server'
import type { ScopedServer } from '../catalog/scoped-server.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Scope } from '../scope/scope.ts'

/** An adopted server that was created for one scope. */
export interface AdoptedServer extends ScopedServer {
  /** Returns the server to connect, with the runtime handling its tools. `introduces`: the client may ask what it is for. */
  serve(runtime: Runtime, scope: Scope, introduces: boolean): Server | McpServer
}
