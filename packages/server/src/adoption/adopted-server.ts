import type { McpServer, Server } from '@modelcontextprotocol/server'
import type { ScopedServer } from '../catalog/scoped-server.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Scope } from '../scope/scope.ts'

/** An adopted server, created for one scope. */
export interface AdoptedServer extends ScopedServer {
  /** Returns the server to connect, with the runtime handling its tools. For `isDiscoverable` see `sdkHost`. */
  serve(runtime: Runtime, scope: Scope, isDiscoverable: boolean): Server | McpServer
}
