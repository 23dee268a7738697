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
  'secret',
  'status',
  'ui',
  'why',
  'usage',
  'logs',
  'audit',
  'review',
  'trust',
  'approvals',
  'script',
  'policy',
  'reload',
  'restart',
  'enable',
  'disable',
  'set',
]
const servers = ['list', 'call', 'describe', 'search', 'tree', 'preview', 'watch', 'identity', 'login', 'logout']
const others = ['doctor', 'generate', 'plugins', 'init', 'completion']

const defaultWidth = 100
const maxFlagWidth = 30
const verbColumnWidth = Math.max(...Object.keys(verbs).map((name) => name.length))

/** Help for the whole program, in lines of at most `columns`. */
export function generalHelp(columns: number = defaultWidth): string {
  const width = Math.min(columns, defaultWidth)
  const commands = (names: readonly string[]): string =>
    tableLines(
      names.map((name) => [name.padEnd(verbColumnWidth), verbs[name]?.description ?? '']),
      { width, indent: 2 },
    ).join('\n')
  const paragraph = (text: string): string => wrapped(text, width).join('\n')
  return `${paragraph('One gateway for all your MCP servers, and every tool as a command')}

${paragraph('Usage: unfold <command> [<server>] [<tool>] [--flag value …] [-- <server command>]')}

Gateway:
${commands(gateway)}

Servers and tools:
${commands(servers)}

Other:
${commands(others)}

${paragraph('A server is a name from your configuration files (Claude, Cursor, VS Code, Codex, Gemini, Windsurf, .mcp.json, unfold.json, …), a URL, or a command after --.')}

Examples:
  unfold list                                        list known servers
  unfold list github                                 list the tools of a server
  unfold call github create_issue --title "It broke" --labels bug
  unfold github create_issue --help                  show the flags of a tool
  unfold list -- npx -y @modelcontextprotocol/server-everything

Flags:
${flagLines(common, width)}

Exit codes:
${paragraph('  0 ok, 1 failed, 2 usage error, 3 sign-in required, 4 unreachable, 5 tool error or unknown tool, 6 blocked, 130 interrupted')}

Run "unfold <command> --help" for the flags of a command.`
}

/** Help for one command, in lines of at most `columns`. */
export function verbHelp(name: string, columns: number = defaultWidth): string {
  const verb = Object.hasOwn(verbs, name) ? verbs[name] : undefined
  if (verb === undefined) return generalHelp(columns)
  const width = Math.min(columns, defaultWidth)
  const command = verb.takesServer === true ? ' [-- <server command>]' : ''
  const { usage, placeholder } = verb
  const values =
    placeholder === undefined ? '' : `${wrapped(`${placeholder}: ${usage.replaceAll('|', ', ')}`, width).join('\n')}\n\n`
  const own = Object.keys(verb.flags).length === 0 ? '' : `Flags:\n${flagLines(verb.flags, width)}\n\n`
  return `${wrapped(verb.description, width).join('\n')}

${wrapped(`Usage: unfold ${name} ${placeholder ?? usage}${command}`, width).join('\n')}

${values}${own}Global flags:
${flagLines(common, width)}`
}

function flagLines(flags: { readonly [name: string]: Flag }, width: number): string {
  const rows = Object.entries(flags).map(([name, { short, value, description }]) => [
    `${short === undefined ? '    ' : `-${short}, `}--${name}${value === undefined ? '' : ` <${value}>`}`,
    description,
  ])
  return tableLines(rows, { width, indent: 2, widest: maxFlagWidth }).join('\n')
}
