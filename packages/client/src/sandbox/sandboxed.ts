import { mkdirSync } from 'node:fs'
import { hasNetwork, type Sandbox } from '../config/sandbox.ts'
import { type CommandTarget, labelOf } from '../config/target.ts'
import { ClientError } from '../errors/errors.ts'
import { sandboxProgram } from './bubblewrap.ts'
import { type Installation, isInstalled, isInstallVariable, markOf, quoted, supplyOf } from './installation.ts'
import { mountFlags, privateFolders, SandboxPathError, type View } from './mounts.ts'
import { isFolder, realOrSame } from './path.ts'
import { containsAny, type ProgramContext, programFiles } from './program.ts'

type Line = Required<Pick<CommandTarget, 'command' | 'args'>>

interface Context {
  readonly target: CommandTarget
  readonly sandbox: Sandbox
  /** Bubblewrap with its isolation flags. */
  readonly bubblewrap: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly cwd: string
}

/**
 * The command line that runs a server in its sandbox, given the whole environment of the process. A server that `npx` or `uvx`
 * installs is installed first, with the network, but without the variables and folders of the server. Throws if the sandbox cannot
 * be enforced.
 */
export async function sandboxed(
  target: CommandTarget & { readonly sandbox: Sandbox },
  environment: Readonly<Record<string, string>>,
): Promise<Line> {
  const { sandbox } = target
  const found = await sandboxProgram()
  if ('problem' in found) throw refused(target, `${found.problem} To run it without a sandbox, set "sandbox": "none".`)
  const cwd = realOrSame(target.cwd ?? process.cwd())
  // Otherwise the sandbox would create it, and hide a typo.
  if (!isFolder(cwd)) throw missing()
  const context: Context = { target, sandbox, environment, cwd, bubblewrap: [found.program, ...found.isolation] }
  try {
    return lineFor(context)
  } catch (error) {
    if (!(error instanceof SandboxPathError)) throw error
    throw refused(target, `${error.message}. Create it, or remove it from the list.`)
  }
}

function lineFor(context: Context): Line {
  const { target, sandbox } = context
  const { command, args = [] } = target
  const supply = supplyOf(target)
  if (supply.kind === 'container')
    throw refused(
      target,
      `${supply.program} starts the server outside of the sandbox. Set "sandbox": "none", and limit the container with options of ${supply.program}, such as --network none and --read-only.`,
    )
  if (supply.kind === 'launcher' && !hasNetwork(sandbox))
    throw refused(
      target,
      `${supply.program} may need the network to install it, and this command cannot be installed separately. Set "network": true in its sandbox, or run an installed program instead.`,
    )
  if (supply.kind === 'local') return split(runLine(context, supply))
  if (supply.kind !== 'install') return split(runLine(context, { command, args }))
  const { installation } = supply
  const { command: program, args: rest, folder } = installation
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const run = runLine(context, { command: program, args: rest, installed: folder })
  if (isInstalled(installation)) return split(run)
  const install = `${quoted(installLine(context, installation))} </dev/null >&2 && : >${quoted([markOf(installation)])}`
  return { command: 'sh', args: ['-c', `{ ${install}; } || exit 1; exec ${quoted(run)}`] }
}

interface Run extends Line {
  /** Folder of its installation. The program may not exist yet. */
  readonly installed?: string
}

function runLine(context: Context, { command, args, installed }: Run): readonly string[] {
  const { sandbox, bubblewrap, environment, cwd } = context
  const files =
    installed === undefined
      ? programFiles(command, args, programContext(context))
      : // What its launcher runs it with, such as node.
        { command, read: [installed, ...(interpreterFiles(context)?.read ?? [])], links: interpreterFiles(context)?.links ?? [] }
  if (files === undefined) throw missing()
  const view: View = {
    sandbox,
    home: environment.HOME,
    cwd,
    program: [...files.read, ...certificates(environment)],
    links: files.links,
  }
  return [...bubblewrap, ...networkFlags(hasNetwork(sandbox)), ...mountFlags(view), '--', files.command, ...args]
}

function installLine(context: Context, { folder, script, program, env }: Installation): readonly string[] {
  const { bubblewrap, environment, sandbox, target } = context
  const files = programFiles(program, [], programContext(context))
  if (files === undefined) throw missing()
  const interpreter = interpreterFiles(context)
  // Its scripts have the network, so they see neither the folders of the server nor its variables.
  const view: View = {
    sandbox: { preset: sandbox.preset, hide: sandbox.hide ?? [], write: [folder], network: true },
    home: environment.HOME,
    cwd: folder,
    program: [...files.read, ...(interpreter?.read ?? []), ...certificates(environment)],
    links: [...files.links, ...(interpreter?.links ?? [])],
  }
  const secret = Object.keys(target.env ?? {}).filter((name) => !isInstallVariable(name) && name !== 'HOME')
  // Set before bubblewrap starts: its own environment is readable in the sandbox.
  const variables = [...secret.flatMap((name) => ['-u', name]), ...Object.entries(env).map(([name, value]) => `${name}=${value}`)]
  return ['env', ...variables, ...bubblewrap, ...mountFlags(view), '--', 'sh', '-c', script]
}

const interpreterFiles = (context: Context) => programFiles(context.target.command, [], programContext(context))

function programContext({ sandbox, environment, cwd }: Context): ProgramContext {
  const hidden = [...privateFolders(environment.HOME), ...(sandbox.hide ?? []).filter(isFolder).map(realOrSame)]
  return { path: environment.PATH ?? '', cwd, isPrivate: containsAny(hidden) }
}

const certificates = ({
  NODE_EXTRA_CA_CERTS,
  SSL_CERT_FILE,
  SSL_CERT_DIR,
}: Readonly<Record<string, string>>): readonly string[] =>
  [NODE_EXTRA_CA_CERTS, SSL_CERT_FILE, SSL_CERT_DIR].filter((path) => path?.startsWith('/') === true) as string[]

/** Its own loopback interface, without a way out. */
const networkFlags = (isOn: boolean): readonly string[] => (isOn ? [] : ['--unshare-net'])

function split([command = '', ...args]: readonly string[]): Line {
  return { command, args }
}

/** As `spawn` reports a missing program or working directory. */
const missing = (): Error => Object.assign(new Error('not found'), { code: 'ENOENT' })

function refused(target: CommandTarget, reason: string): ClientError {
  const label = labelOf(target)
  const { preset = '' } = target.sandbox ?? {}
  return new ClientError('unreachable', `${label} was not started, because its sandbox ("${preset}") cannot be used. ${reason}`, {
    target: label,
    sandbox: preset,
  })
}
