import { CommandError, exit } from './base/exit.ts'
import { toCommandError } from './base/failure.ts'
import { homeFolder } from './base/home.ts'
import { dataFolder, type Io } from './base/io.ts'
import { commands } from './commands.ts'
import { type Invocation, isSet, parse, textOf } from './grammar/grammar.ts'
import { verbHelp } from './grammar/help.ts'
import { verbs } from './grammar/verbs.ts'
import { Output } from './output/output.ts'

export interface RunOptions {
  /** The server that is meant when none is named. */
  readonly defaultServer?: string | undefined
  /** What is done with the command line once it is taken apart. */
  readonly execute?: (invocation: Invocation, io: Io) => Promise<number>
}

/** Does what a command line asks for, and ends the process with a code that tells how it went. */
export async function run(argv: readonly string[], options: RunOptions = {}): Promise<void> {
  const interrupt = new AbortController()
  const io: Io = {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
    home: homeFolder(process.env),
    platform: process.platform,
    signal: interrupt.signal,
    forceExit: { end: () => process.exit(exit.interrupted) },
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      // Whoever asks a second time means now.
      if (interrupt.signal.aborted) io.forceExit.end()
      else interrupt.abort()
    })
  }
  // A reader that has seen enough, such as head, is no failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(exit.ok)
    process.stderr.write(`error: What was to be said could not be written: ${error.message}\n`)
    process.exit(exit.failed)
  })
  // Nobody can be told, which is no reason to end what was asked for.
  process.stderr.on('error', () => undefined)
  process.exitCode = await runWith(argv, io, { defaultServer: process.env.UNFOLD_SERVER, ...options })
  // A server's connection that is slow to close must not keep a person waiting.
  setTimeout(() => process.exit(), 2_000).unref()
}

/** The same with system of one's own; gives the exit code. */
async function runWith(argv: readonly string[], io: Io, { defaultServer, execute = runVerb }: RunOptions): Promise<number> {
  let invocation: Invocation | undefined
  try {
    invocation = parse(argv, { defaultServer })
    const isPlain = isSet(invocation.flags, 'no-color')
    return await execute(invocation, isPlain ? { ...io, env: { ...io.env, NO_COLOR: '1', FORCE_COLOR: undefined } } : io)
  } catch (error) {
    const failure = io.signal.aborted
      ? new CommandError(exit.interrupted, 'interrupted', 'Interrupted.')
      : toCommandError(error, serverIn(invocation, defaultServer))
    new Output(io, invocation?.flags ?? flagsBeforeParsing(argv)).error(failure)
    return failure.code
  }
}

async function runVerb(invocation: Invocation, io: Io): Promise<number> {
  const { verb, flags } = invocation
  if (isSet(flags, 'help') && !namesTool(invocation, io)) {
    io.stdout.write(`${verbHelp(verb, io.stdout.columns)}\n`)
    return exit.ok
  }
  const command = await commands[verb]?.()
  const code = (await command?.run(invocation, io)) ?? exit.failed
  if (verbs[verb]?.takesServer === true) await prepareCompletions(io)
  return code
}

/** What was learnt of a server's tools is put where a shell that completes a word finds it at once. */
async function prepareCompletions(io: Io): Promise<void> {
  const { completionFolders, refreshToolIndexes } = await import('./completion/cache.ts')
  await refreshToolIndexes(completionFolders(dataFolder(io))).catch(() => undefined)
}

/** Whether the help that is asked for is that of a tool. */
function namesTool({ verb, positionals, command, flags }: Invocation, { env }: Io): boolean {
  const hasServer = command !== undefined || flags.server !== undefined || env.UNFOLD_SERVER !== undefined
  return verbs[verb]?.callsTool === true && positionals.length > (hasServer ? 0 : 1)
}

/** What the command line calls its server. */
function serverIn(invocation: Invocation | undefined, defaultServer: string | undefined): string | undefined {
  if (invocation === undefined || invocation.command !== undefined) return undefined
  return textOf(invocation.flags, 'server') ?? defaultServer ?? invocation.positionals[0]
}

/** How to say that the command line itself cannot be read. */
const flagsBeforeParsing = (argv: readonly string[]) => ({
  json: argv.includes('--json'),
  jsonl: argv.includes('--jsonl'),
  debug: argv.includes('--debug'),
})
