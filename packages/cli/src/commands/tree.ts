import { type Tool, toolTokens } from '@unfold-mcp/core'
import { exit } from '../exit.ts'
import { commandErrorOf } from '../failure.ts'
import type { Invocation } from '../grammar.ts'
import type { Io } from '../io.ts'
import { Output } from '../output.ts'
import { connectTo, knownServers, type Named, namedServer } from '../servers.ts'
import { safeText } from '../text/safe.ts'

/** A server with what it lists, and the groups it tells of. */
interface Branch {
  readonly server: string
  readonly tools: readonly { readonly name: string; readonly tokens: number }[]
  readonly groups: readonly { readonly name: string; readonly tools: number }[]
  readonly tokens: number
  readonly error?: string
}

/** Servers, groups and tools, with what they cost a model to read. */
export async function run(invocation: Invocation, io: Io): Promise<number> {
  const { words, command, flags } = invocation
  const output = new Output(io, flags)
  const isOne = words.length > 0 || command !== undefined || flags.server !== undefined || io.env.UNFOLD_SERVER !== undefined
  const servers: readonly Pick<Named, 'label' | 'target'>[] = isOne
    ? [await namedServer(invocation, io, output)]
    : (await knownServers(flags, io)).servers
        .filter(({ trust, disabled }) => trust === 'user' && !disabled)
        .map(({ name, target }) => ({ label: name, target }))
  const branches = await Promise.all(servers.map((server) => branchOf(server, invocation, io, output)))
  output.answer(branches.length === 0 ? 'No servers were found. See unfold list.' : branches.map(branchText).join('\n'), {
    servers: branches,
  })
  const [only] = branches
  return isOne && only?.error !== undefined ? exit.unreachable : exit.ok
}

async function branchOf(server: Pick<Named, 'label' | 'target'>, { flags }: Invocation, io: Io, output: Output): Promise<Branch> {
  const { label } = server
  try {
    await using connection = await connectTo(server, flags, io, output)
    const tools = await connection.tools()
    const identity = await connection.identity()
    const costs = tools.map((tool: Tool) => ({ name: tool.name, tokens: toolTokens(tool) }))
    return {
      server: label,
      tools: costs,
      groups: groupsIn(identity?.groups),
      tokens: costs.reduce((sum, each) => sum + each.tokens, 0),
    }
  } catch (error) {
    return { server: label, tools: [], groups: [], tokens: 0, error: commandErrorOf(error).message }
  }
}

function groupsIn(told: unknown): Branch['groups'] {
  if (typeof told !== 'object' || told === null) return []
  return Object.entries(told).map(([name, group]) => {
    const { tools_count: count } = (group ?? {}) as { tools_count?: unknown }
    return { name, tools: typeof count === 'number' ? count : 0 }
  })
}

function branchText({ server, tools, groups, tokens, error }: Branch): string {
  if (error !== undefined) return `${safeText(server)}  not reached: ${safeText(error)}`
  const rows = [
    ...tools.map(({ name, tokens: cost }) => `${safeText(name)}  ~${cost}`),
    ...groups.map(({ name, tools: count }) => `[${safeText(name)}]  ${count} ${count === 1 ? 'tool' : 'tools'} in this group`),
  ]
  const lines = rows.map((row, index) => `${index === rows.length - 1 ? '└─' : '├─'} ${row}`)
  return [`${safeText(server)}  ${tools.length} tools, ~${tokens} tokens`, ...lines].join('\n')
}
