import { common, type Flag, verbs } from './verbs.ts'

const gateway = ['import', 'add', 'remove', 'serve', 'connect', 'disconnect', 'token', 'status', 'logs', 'reload']
const servers = ['list', 'call', 'describe', 'search', 'tree', 'watch', 'identity', 'login', 'logout']
const others = ['doctor', 'generate', 'plugins', 'init', 'completion']

/** What there is, for someone who has not used it yet. */
export function generalHelp(): string {
  const width = Math.max(...Object.keys(verbs).map((name) => name.length))
  const lines = (names: readonly string[]): string =>
    names.map((name) => `  ${name.padEnd(width)}  ${verbs[name]?.about ?? ''}`).join('\n')
  return `unfold: many MCP servers behind one gateway, and every tool of every server as a command

Usage: unfold <verb> [<server>] [<tool>] [--flag value …] [-- <command of a server>]

The gateway
${lines(gateway)}

Servers and their tools
${lines(servers)}

More
${lines(others)}

A server is a name from a configuration you have (Claude, Cursor, VS Code, Codex, Gemini, Windsurf, .mcp.json, unfold.json),
an address, or a command after --:

  unfold list                                        the servers that were found
  unfold list github                                 the tools of one
  unfold call github create_issue --title "It broke" --labels bug
  unfold github create_issue --help                  the flags of a tool
  unfold list -- npx -y @modelcontextprotocol/server-everything

${flagLines(common)}

Each verb has its own help: unfold call --help
Exit codes: 0 ok, 1 failed, 2 usage, 3 sign-in needed, 4 not reachable, 5 tool error or no such tool, 6 blocked, 130 interrupted.`
}

/** How one verb is used. */
export function verbHelp(name: string): string {
  const verb = verbs[name]
  if (verb === undefined) return generalHelp()
  const server = verb.wantsServer === true ? ' [-- <command of a server>]' : ''
  return `${verb.about}.

Usage: unfold ${name} ${verb.takes}${server}

${flagLines({ ...verb.flags, ...common })}`
}

function flagLines(flags: { readonly [name: string]: Flag }): string {
  const named = Object.entries(flags).map(([name, { short, value, about }]) => ({
    head: `  ${short === undefined ? '    ' : `-${short}, `}--${name}${value === undefined ? '' : ` <${value}>`}`,
    about,
  }))
  const width = Math.max(...named.map(({ head }) => head.length))
  return named.map(({ head, about }) => `${head.padEnd(width)}  ${about}`).join('\n')
}
