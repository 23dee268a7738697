import type { Config } from '../config/schema.ts'
import { separator, serverSlug } from '../names/naming.ts'

/** A tool by server and name on the server. */
export interface NamedTool {
  readonly server: string
  readonly tool: string
}

/** Finds the tool that clients see under a name, as far as the configuration shows it. */
export function namedTool({ mcpServers }: Pick<Config, 'mcpServers'>, name: string): NamedTool | undefined {
  for (const [server, { tools }] of Object.entries(mcpServers)) {
    const [renamed] = Object.entries(tools).find(([, override]) => override.name === name) ?? []
    if (renamed !== undefined) return { server, tool: renamed }
    const prefix = `${serverSlug(server)}${separator}`
    if (name.startsWith(prefix) && name.length > prefix.length) return { server, tool: name.slice(prefix.length) }
  }
  return undefined
}
