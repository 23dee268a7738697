import { isCommandServer, type ServerConfig } from '../config/schema.ts'
import { addressOf } from '../upstreams/address.ts'

// Words that say what to do with the program that is named after them.
const verbs: ReadonlySet<string> = new Set(['run', 'exec', 'dlx', 'x', 'tool', 'start', 'serve'])
// What these run stands somewhere among their arguments.
const containers = /(?:^|[\\/])(?:docker|podman|nerdctl)(?:\.exe)?$/u

/** Whether two servers are the same one, configured twice: the same address, or the same program with other arguments. */
export function isSameProgram(one: ServerConfig, other: ServerConfig): boolean {
  if (isCommandServer(one) !== isCommandServer(other)) return false
  if (!isCommandServer(one) || !isCommandServer(other)) return placeOf(one) === placeOf(other)
  if (one.command !== other.command) return false
  const first = one.args.findIndex((arg, at) => arg !== other.args[at])
  if (first === -1 && one.args.length <= other.args.length) return true
  if (containers.test(one.command)) return false
  const common = first === -1 ? other.args : one.args.slice(0, first)
  return common.some((arg) => !arg.startsWith('-') && !verbs.has(arg))
}

function placeOf(server: ServerConfig): string | undefined {
  if (isCommandServer(server)) return undefined
  return addressOf(server.url) ?? server.url
}
