import { exit } from '../../base/exit.ts'
import { toCommandError } from '../../base/failure.ts'
import type { Io } from '../../base/io.ts'
import type { FoundServer } from '../../config/index.ts'
import type { Invocation } from '../../grammar/grammar.ts'
import { Output } from '../../output/output.ts'
import { targetWithSecrets } from '../../servers/secrets.ts'
import { connectTo, discoverServers, type ResolvedServer, resolveServerArgument } from '../../servers/servers.ts'
import { safeText } from '../../text/safe.ts'
import { treeLines } from '../../tree/lines.ts'
import { type Tree, treeOf } from '../../tree/tree.ts'

type Shown = Pick<ResolvedServer, 'label' | 'target'> & { readonly found?: FoundServer }

type Branch = { readonly server: string } & (Tree | { readonly error: string })

export async function run(invocation: Invocation, io: Io): Promise<number> {
  const { positionals, command, flags } = invocation
  const output = new Output(io, flags)
  const isOne =
    positionals.length > 0 || command !== undefined || flags.server !== undefined || io.env.UNFOLD_SERVER !== undefined
  const servers: readonly Shown[] = isOne
    ? [await resolveServerArgument(invocation, io, output)]
    : (await discoverServers(flags, io)).servers
        .filter(({ trust, disabled }) => trust === 'user' && !disabled)
        .map((found) => ({ label: found.name, target: found.target, found }))
  const branches = await Promise.all(servers.map((server) => branchOf(server, invocation, io, output)))
  const lines = branches.flatMap((branch) => branchLines(branch, output.width))
  output.result(branches.length === 0 ? 'No servers found.' : lines.join('\n'), { servers: branches })
  const [only] = branches
  return isOne && only !== undefined && 'error' in only ? exit.unreachable : exit.ok
}

async function branchOf({ label, target, found }: Shown, { flags }: Invocation, io: Io, output: Output): Promise<Branch> {
  try {
    const resolved = found === undefined ? target : await targetWithSecrets(found, flags, io, output)
    await using connection = await connectTo({ label, target: resolved }, flags, io, output)
    return { server: label, ...treeOf(await connection.tools(), await connection.outline()) }
  } catch (error) {
    return { server: label, error: toCommandError(error).message }
  }
}

function branchLines(branch: Branch, width: number): readonly string[] {
  if ('error' in branch) return [`${safeText(branch.server)}  unreachable: ${safeText(branch.error)}`]
  return treeLines(branch.server, branch, width)
}
