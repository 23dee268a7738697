import { tableLines } from '../text/table.ts'
import { wrapped } from '../text/wrap.ts'
import { common, type Flag, verbs } from './verbs.ts'

const gateway = [
  'import',
  'add',
  'remove',
  'serve',
  'connect',
  'disconnect',
  'token',
  'status',
  'logs',
  'reload',
  'restart',
  'enable',
  'disable',
]
const servers = ['list', 'call', 'describe', 'search', 'tree', 'preview', 'watch', 'identity', 'login', 'logout']
const others = ['doctor', 'generate', 'plugins', 'init', 'completion']

// Where nobody says how wide the terminal is.
const defaultWidth = 100

/** What there is, for someone who has not used it yet, in lines of at most `columns`. */
export function generalHelp(columns: number = defaultWidth): string {
  const width = Math.min(columns, defaultWidth)
  const lines = (names: readonly string[]): string =>
    tableLines(
      names.map((name) => [name.padEnd(verbColumnWidth), verbs[name]?.about ?? '']),
      { width, indent: 2 },
    ).join('\n')
  const text = (words: string): string => wrapped(words, width).join('\n')
  return `${text('unfold: many MCP servers behind one gateway, and every tool of every server as a command')}

${text('Usage: unfold <verb> [<server>] [<tool>] [--flag value …] [-- <command of a server>]')}

The gateway
${lines(gateway)}

Servers and their tools
${lines(servers)}

More
${lines(others)}

${text('A server is a name from a configuration you have (Claude, Cursor, VS Code, Codex, Gemini, Windsurf, .mcp.json, unfold.json), an address, or a command after --:')}

  unfold list                                        the servers that were found
  unfold list github                                 the tools of one
  unfold call github create_issue --title "It broke" --labels bug
  unfold github create_issue --help                  the flags of a tool
  unfold list -- npx -y @modelcontextprotocol/server-everything

${flagLines(common, width)}

Each verb has its own help: unfold call --help
${text('Exit codes: 0 ok, 1 failed, 2 usage, 3 sign-in needed, 4 not reachable, 5 tool error or no such tool, 6 blocked, 130 interrupted.')}`
}

const verbColumnWidth = Math.max(...Object.keys(verbs).map((name) => name.length))

/** How one verb is used, in lines of at most `columns`. */
export function verbHelp(name: string, columns: number = defaultWidth): string {
  const verb = Object.hasOwn(verbs, name) ? verbs[name] : undefined
  if (verb === undefined) return generalHelp(columns)
  const width = Math.min(columns, defaultWidth)
  const server = verb.takesServer === true ? ' [-- <command of a server>]' : ''
  return `${wrapped(`${verb.about}.`, width).join('\n')}

${wrapped(`Usage: unfold ${name} ${verb.takes}${server}`, width).join('\n')}

${flagLines({ ...verb.flags, ...common }, width)}`
}

const maxFlagWidth = 30

function flagLines(flags: { readonly [name: string]: Flag }, width: number): string {
  const rows = Object.entries(flags).map(([name, { short, value, about }]) => [
    `${short === undefined ? '    ' : `-${short}, `}--${name}${value === undefined ? '' : ` <${value}>`}`,
    about,
  ])
  return tableLines(rows, { width, indent: 2, widest: maxFlagWidth }).join('\n')
}
