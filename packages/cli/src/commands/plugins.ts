import { once } from 'node:events'
import { basename, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { exit, usageError } from '../base/exit.ts'
import type { Io } from '../base/io.ts'
import { manifest } from '../base/package-folder.ts'
import { type Invocation, textOf } from '../grammar/grammar.ts'

// Clients that list only once should see all plugins; one hanging plugin must not block the others.
const pluginLoadTimeoutMs = 2_000

export async function run({ positionals, flags }: Invocation, io: Io): Promise<number> {
  const [action, folder, ...others] = positionals
  if (action !== 'serve' || folder === undefined || others.length > 0)
    throw usageError('Usage: unfold plugins serve <folder> [--http <port>]')
  const port = textOf(flags, 'http')
  if (port !== undefined && !/^\d{1,5}$/u.test(port)) throw usageError(`--http must be a port, not "${port}".`)
  const { defineToolbox, serve } = await import('@unfold-mcp/server')
  const { pluginFolder } = await import('@unfold-mcp/server/plugins')
  const path = resolve(io.cwd, folder)
  const log = (line: string): void => {
    io.stderr.write(`${line}\n`)
  }
  await using plugins = pluginFolder(path, {
    log,
    report: ({ message }) => log(message),
    onOutput: (plugin, line) => log(`[${plugin}] ${line}`),
  })
  const toolbox = defineToolbox({ name: basename(path), version: manifest.version }).use(plugins)
  await Promise.race([plugins.ready(), pause(pluginLoadTimeoutMs, undefined, { ref: false })])
  await serve(toolbox, { argv: port === undefined ? [] : ['--http', port] })
  // `serve` exits the process on a signal or at the end of stdin.
  if (!io.signal.aborted) await once(io.signal, 'abort')
  return exit.ok
}
