import type { Server, ServerContext } from '@modelcontextprotocol/server'

type Build = (...given: readonly unknown[]) => ServerContext

/** How the SDK makes the context of a request; it keeps that for classes derived from its own. */
export interface ContextBuilding {
  buildContext: Build
}

/** The part of a server that makes contexts. */
export function contextBuilding(server: Server): ContextBuilding {
  const building = server as unknown as Partial<ContextBuilding>
  if (typeof building.buildContext !== 'function')
    throw new TypeError('This version of the MCP SDK makes its contexts in another way. Use the version that Unfold names.')
  return building as ContextBuilding
}
