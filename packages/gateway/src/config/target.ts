import { resolve } from 'node:path'
import type { CommandTarget, UrlTarget } from '@unfold-mcp/client'
import { isCommandServer, type ServerConfig, type UrlServer } from './schema.ts'

/** Relative folders are resolved from the folder of the configuration file, not from the working directory. */
export function targetOf(
  server: ServerConfig,
  folder: string,
  processes?: CommandTarget['processes'],
): CommandTarget | UrlTarget {
  if (isCommandServer(server)) {
    const { command, args, env, cwd } = server
    const ending = server.processes ?? processes
    return { command, args, env, cwd: resolve(folder, cwd ?? '.'), ...(ending !== undefined && { processes: ending }) }
  }
  return { url: server.url, headers: server.headers, transport: transports[server.type ?? 'auto'] }
}

const transports: { readonly [T in NonNullable<UrlServer['type']> | 'auto']: 'auto' | 'http' | 'sse' } = {
  auto: 'auto',
  http: 'http',
  'streamable-http': 'http',
  streamableHttp: 'http',
  sse: 'sse',
}
