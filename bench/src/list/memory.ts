import { startChild } from './child.ts'
import { RawClient } from './client.ts'

/** Memory of one idle session. */
export interface Weight {
  readonly name: string
  readonly sessions: number
  /** Heap and external bytes per session after garbage collection. */
  readonly bytes: number
}

export const memoryNames = {
  sdkServer: 'SDK Server',
  sdkMcp: 'SDK McpServer',
  plain: 'Unfold, no groups',
  grouped: 'Unfold, 50 groups',
} as const

/** Measures the memory of idle sessions of servers with `size` tools. */
export async function weighSessions(size: number, sessions: number): Promise<readonly Weight[]> {
  // Every session of the high-level server registers all tools again; a hundred sessions are enough, ten thousand would not fit.
  const few = Math.min(sessions, 100)
  return Promise.all([
    weighed(memoryNames.sdkServer, 'sdk', ['server', size], { path: '/session', sessions }),
    weighed(memoryNames.sdkMcp, 'sdk', ['mcp', size], { path: '/session', sessions: few }),
    weighed(memoryNames.plain, 'unfold', ['plain', size], { path: '/mcp', sessions }),
    weighed(memoryNames.grouped, 'unfold', ['grouped', size], { path: '/mcp', sessions }),
  ])
}

async function weighed(
  name: string,
  server: string,
  args: readonly (string | number)[],
  { path, sessions }: { path: string; sessions: number },
): Promise<Weight> {
  await using child = await startChild(server, args)
  using client = new RawClient(child.port)
  // The first sessions also load and compile code that later ones share.
  for (let i = 0; i < Math.min(sessions, 500); i++) await client.initialize(path)
  const before = await child.weigh()
  for (let i = 0; i < sessions; i++) await client.initialize(path)
  return { name, sessions, bytes: ((await child.weigh()) - before) / sessions }
}
