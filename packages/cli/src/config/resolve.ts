import { nearest, printable } from '@unfold-mcp/core'
import { type Problem, problemText } from './problem.ts'
import type { FoundServer, FoundServers } from './servers.ts'

/** Result of looking up a server; `message` explains failures. */
export type Resolution =
  | { readonly kind: 'found'; readonly server: FoundServer }
  | { readonly kind: 'ambiguous'; readonly names: readonly string[]; readonly message: string }
  | { readonly kind: 'broken'; readonly problems: readonly Problem[]; readonly message: string }
  | { readonly kind: 'unknown'; readonly nearest: readonly string[]; readonly message: string }

/** Finds a server by `name` or `name@client`. */
export function resolveServer(name: string, { servers, problems }: FoundServers): Resolution {
  const exact = servers.find((server) => server.name === name)
  if (exact !== undefined) return { kind: 'found', server: exact }
  const same = servers.filter(({ key }) => key === name)
  if (same.length > 0) return ambiguous(name, same)
  const [only] = servers.filter((server) =>
    [server.source, ...server.also].some(({ client }) => `${server.key}@${client}` === name),
  )
  if (only !== undefined) return { kind: 'found', server: only }
  const broken = problems.filter(({ server }) => server === name || (server !== undefined && name.startsWith(`${server}@`)))
  if (broken.length > 0) {
    const lines = broken.map((problem) => `\n  ${problemText(problem)}`).join('')
    return { kind: 'broken', problems: broken, message: `Server "${printable(name)}" cannot be used:${lines}` }
  }
  return unknown(name, servers, problems)
}

function ambiguous(name: string, same: readonly FoundServer[]): Resolution {
  const names = same.map((server) => server.name)
  const lines = same.map((server) => `\n  ${printable(server.name)}  ${printable(server.source.file, 500)}:${server.source.line}`)
  return {
    kind: 'ambiguous',
    names,
    message: `Server name "${printable(name)}" is ambiguous. Choose one of:${lines.join('')}`,
  }
}

function unknown(name: string, servers: readonly FoundServer[], problems: readonly Problem[]): Resolution {
  const close = nearest(
    name,
    servers.map((server) => server.name),
  )
  const shown = close.length > 0 ? close : servers.slice(0, 10).map((server) => server.name)
  const hint =
    servers.length === 0
      ? 'No servers are configured. Add one with "unfold add <name> -- <command>", or pass a URL, or a command after "--".'
      : `${close.length > 0 ? 'Nearest' : 'Available'}: ${shown.map((each) => printable(each)).join(', ')}.`
  const files = new Set(problems.filter(({ server }) => server === undefined).map(({ file }) => file))
  const unread = files.size === 0 ? '' : ` Invalid files: ${[...files].map((file) => printable(file, 500)).join(', ')}.`
  return { kind: 'unknown', nearest: close, message: `Unknown server "${printable(name)}". ${hint}${unread}` }
}
