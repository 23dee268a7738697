import { isCommandServer, isScriptServer, isUrlServer, type ServerConfig } from '../config/schema.ts'
import { publicUrl } from '../upstreams/address.ts'

// Subcommands before the name of the program.
const subcommands: ReadonlySet<string> = new Set(['run', 'exec', 'dlx', 'x', 'tool', 'start', 'serve'])
// The image may be at any position of their arguments.
const containers = /(?:^|[\\/])(?:docker|podman|nerdctl)(?:\.exe)?$/u

/** True if two servers have the same URL, or the same program with other arguments. */
export function isSameProgram(one: ServerConfig, other: ServerConfig): boolean {
  if (isScriptServer(one) || isScriptServer(other) || isCommandServer(one) !== isCommandServer(other)) return false
  if (!isCommandServer(one) || !isCommandServer(other)) return urlOf(one) === urlOf(other)
  if (one.command !== other.command) return false
  const first = one.args.findIndex((arg, at) => arg !== other.args[at])
  if (first === -1 && one.args.length <= other.args.length) return true
  if (containers.test(one.command)) return false
  const common = first === -1 ? other.args : one.args.slice(0, first)
  return common.some((arg) => !arg.startsWith('-') && !subcommands.has(arg))
}

function urlOf(server: ServerConfig): string | undefined {
  if (!isUrlServer(server)) return undefined
  return publicUrl(server.url) ?? server.url
}
