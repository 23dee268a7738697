import { once } from 'node:events'
import { basename, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { exit, usageError } from '../base/exit.ts'
import type { Io } from '../base/io.ts'
import { manifest } from '../base/package-folder.ts'
import { type Invocation, textOf } from '../grammar/grammar.ts'

// Clients that list once see what is loaded by then; one plugin that hangs does not keep them from the others.
const pluginLoadTimeoutMs = 2_000

/** Serves a folder of tool plugins until it is interrupted. */
export async function run({ positionals, flags }: Invocation, io: Io): Promise<number> {
  const [action, folder, ...others] = positionals
  if (action !== 'serve' || folder === undefined || others.length > 0)
    throw usageError('Which folder? unfold plugins serve <folder> [--http <port>]')
  const port = textOf(flags, 'http')
  if (port !== undefined && !/^\d{1,5}$/u.test(port)) throw usageError(`--http wants a port, not "${port}".`)
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
  // It ends the process itself: on a signal, or when whoever started it closes its input.
  if (!io.signal.aborted) await once(io.signal, 'abort')
  return exit.ok
}
