import { realpath } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { printable } from '@unfold-mcp/core'
import { type CommandServer, type Config, isCommandServer } from './config/schema.ts'

export interface GatewayFiles {
  /** The configuration file. */
  readonly file: string
  /** Folder for the user's data. */
  readonly home: string
}

export interface ExposedFiles {
  readonly upstream: string
  readonly message: string
}

/**
 * Finds servers that work on a folder with the gateway's own files, such as a file server for the home folder: a model could read
 * tokens through it, or change the configuration. The default working directory does not count, since it is the same for all
 * servers and says nothing about what they work on.
 */
export async function exposedFiles(config: Config, { file, home }: GatewayFiles): Promise<readonly ExposedFiles[]> {
  const [configFile, dataFolder] = await Promise.all([file, home].map(realOrSame))
  const own = [
    { path: dataFolder ?? home, content: 'tokens' },
    { path: configFile ?? file, content: 'the configuration' },
  ]
  const found = await Promise.all(
    Object.entries(config.mcpServers).map(async ([upstream, server]) => {
      if (!isCommandServer(server) || server.disabled) return []
      for (const { setting, path } of foldersOf(server, dirname(resolve(file)))) {
        const folder = await realpath(path).catch(() => undefined)
        const exposed = folder === undefined ? [] : own.filter((each) => contains(folder, each.path))
        if (exposed.length > 0) return [{ upstream, message: messageFor(setting, path, exposed) }]
      }
      return []
    }),
  )
  return found.flat()
}

const messageFor = (
  setting: string,
  path: string,
  exposed: readonly { readonly path: string; readonly content: string }[],
): string =>
  `${setting} ${printable(path)} contains ${exposed.map((each) => `${printable(each.path)} (${each.content})`).join(' and ')} of this gateway, which a model could read or change through this server. Use a narrower folder, or move the files: set UNFOLD_HOME, or serve a configuration from another folder.`

interface Folder {
  readonly setting: string
  readonly path: string
}

function foldersOf({ cwd, args }: CommandServer, base: string): readonly Folder[] {
  const from = resolve(base, cwd ?? '.')
  const own = cwd === undefined ? [] : [{ setting: 'cwd', path: from }]
  return [
    ...own,
    ...args.flatMap((arg, index) => pathsIn(arg).map((path) => ({ setting: `args[${index}]`, path: resolve(from, path) }))),
  ]
}

/** Paths in an argument: the whole, the value of a flag, and parts of a mount such as `/home:/data` or `type=bind,source=/home`. */
function pathsIn(arg: string): readonly string[] {
  const values = arg.split(',').map((part) => part.slice(part.indexOf('=') + 1))
  const mounted = values.map((value) => value.replace(/(?<=^.{2,}):.*$/u, ''))
  return [...new Set([arg, ...values, ...mounted])].filter((text) => isPath.test(text)).map(toPath)
}

const isPath = /^(?:\/|~(?:[\\/]|$)|\.{1,2}(?:[\\/]|$)|[A-Za-z]:[\\/]|file:\/\/)/u

function toPath(text: string): string {
  if (text.startsWith('~')) return join(homedir(), text.slice(1))
  try {
    return text.startsWith('file:') ? fileURLToPath(text) : text
  } catch {
    return text
  }
}

function contains(folder: string, path: string): boolean {
  const inside = relative(folder, path)
  return inside === '' || !(inside === '..' || inside.startsWith(`..${sep}`) || /^[A-Za-z]:/u.test(inside))
}

const realOrSame = (path: string): Promise<string> => realpath(path).catch(() => resolve(path))
