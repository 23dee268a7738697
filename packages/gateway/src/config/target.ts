import { resolve } from 'node:path'
import type { CommandTarget, UrlTarget } from '@unfold-mcp/client'
import { type SandboxBase, sandboxOf, sandboxSettings } from './process/sandbox.ts'
import { type CommandServer, type Config, isCommandServer, isScriptServer, type UrlServer } from './schema.ts'

/** Settings of the file that apply to every process. */
export interface ProcessDefaults extends Partial<Pick<Config, 'processes' | 'sandbox'>> {
  readonly sandboxBase?: SandboxBase | undefined
}

/** Relative folders are resolved from the folder of the configuration file, not from the working directory. */
export function targetOf(
  server: CommandServer | UrlServer,
  folder: string,
  { processes, sandbox: all = 'none', sandboxBase }: ProcessDefaults = {},
): CommandTarget | UrlTarget {
  if (isCommandServer(server)) {
    const { command, args, env } = server
    const cwd = resolve(folder, server.cwd ?? '.')
    const ending = server.processes ?? processes
    const named = server.cwd === undefined ? undefined : cwd
    const sandbox = sandboxOf(sandboxSettings(server.sandbox, all), { folder, cwd: named, ...sandboxBase })
    return {
      ...{ command, args, env, cwd },
      ...(ending !== undefined && { processes: ending }),
      ...(sandbox !== undefined && { sandbox }),
    }
  }
  return { url: server.url, headers: server.headers, transport: transports[server.type ?? 'auto'] }
}

/** Target of a server of a configuration; undefined if it has no such server. */
export function serverTarget(
  { mcpServers, processes, sandbox }: Config,
  name: string,
  { folder, sandboxBase }: { readonly folder: string; readonly sandboxBase?: SandboxBase },
): CommandTarget | UrlTarget | undefined {
  const server = Object.hasOwn(mcpServers, name) ? mcpServers[name] : undefined
  return server === undefined || isScriptServer(server)
    ? undefined
    : targetOf(server, folder, { processes, sandbox, sandboxBase })
}

const transports: { readonly [T in NonNullable<UrlServer['type']> | 'auto']: 'auto' | 'http' | 'sse' } = {
  auto: 'auto',
  http: 'http',
  'streamable-http': 'http',
  streamableHttp: 'http',
  sse: 'sse',
}
