import type { Target } from '@unfold-mcp/client'
import { firstSentence, nearest, nearestHint, type Tool } from '@unfold-mcp/core'
import { helpText } from './arguments/help.ts'
import { CommandError, exit } from './base/exit.ts'
import type { Io } from './base/io.ts'
import { callTool, prompting } from './commands/tools/call.ts'
import { type Invocation, isSet } from './grammar/grammar.ts'
import { Output } from './output/output.ts'
import { run } from './run.ts'
import { connectTo } from './servers/servers.ts'
import { safeText } from './text/safe.ts'
import { tableLines } from './text/table.ts'

/** A program whose commands are the tools of one server. */
export interface Standalone {
  /** Name of the program. */
  readonly name: string
  /** Returns the connection target of the server; called only when a tool is called. */
  readonly target: () => Target
  /** Tools at the time the program was generated. */
  readonly tools: readonly Tool[]
}

/** Runs the program: `<name> <tool> --flag value …`. Help needs no server. */
export async function standalone(program: Standalone, argv: readonly string[] = process.argv.slice(2)): Promise<void> {
  const [first] = argv
  const isHelp = first === undefined || first === '--help' || first === '-h' || first === 'help'
  await run(['call', ...(isHelp ? ['--help'] : argv)], {
    defaultServer: program.name,
    execute: (invocation, io) => runTool(program, invocation, io),
  })
}

async function runTool({ name, target, tools }: Standalone, invocation: Invocation, io: Io): Promise<number> {
  const output = new Output(io, invocation.flags)
  const [wanted] = invocation.positionals
  if (wanted === undefined) {
    output.result(overview(name, tools, output), { name, tools: tools.map((tool) => tool.name) })
    return exit.ok
  }
  const tool = tools.find((each) => each.name === wanted) ?? unknown(name, wanted, tools)
  const command = safeText(name)
  if (isSet(invocation.flags, 'help')) {
    output.result(helpText(tool, { width: output.width, style: output.style, command }), { tool })
    return exit.ok
  }
  const { elicit, asks } = prompting(invocation, io, output)
  await using connection = await connectTo({ label: name, target: target() }, invocation.flags, io, output, elicit)
  return await callTool({ connection, label: name, tool, asks, command }, invocation, io, output)
}

function overview(name: string, tools: readonly Tool[], { width, style }: Output): string {
  const rows = tools.map((tool) => [safeText(tool.name), safeText(firstSentence(tool.description ?? tool.title ?? ''))])
  const lines = tableLines(rows, { width, indent: 2, last: 'cut' })
  return `${style.bold('Usage:')} ${safeText(name)} <tool> [--flag value …]\n\n${lines.join('\n')}\n\nRun "${safeText(name)} <tool> --help" for the flags of a tool.`
}

function unknown(name: string, wanted: string, tools: readonly Tool[]): never {
  const near = nearest(
    wanted,
    tools.map((tool) => tool.name),
  )
  throw new CommandError(
    exit.tool,
    'unknown_tool',
    `Unknown tool "${wanted}".${nearestHint(near)} Run "${name} --help" to list all tools.`,
    {
      details: { nearest: near },
    },
  )
}
