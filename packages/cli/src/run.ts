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
  /** Server to use when the command line names none. */
  readonly defaultServer?: string | undefined
  readonly execute?: (invocation: Invocation, io: Io) => Promise<number>
}

/** Runs a command line and sets the exit code of the process. */
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
    forceExit: { run: () => process.exit(exit.interrupted) },
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (interrupt.signal.aborted) io.forceExit.run()
      // A name that callers of the signal expect; the message is for `serve`.
      else interrupt.abort(new DOMException(signal, 'AbortError'))
    })
  }
  // `unfold list | head` closes the pipe early.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(exit.ok)
    process.stderr.write(`error: Cannot write to stdout: ${error.message}\n`)
    process.exit(exit.failed)
  })
  // Without a listener, a closed stderr would end the process.
  process.stderr.on('error', () => undefined)
  process.exitCode = await runWith(argv, io, { defaultServer: process.env.UNFOLD_SERVER, ...options })
  // A connection that is slow to close must not delay the prompt.
  setTimeout(() => process.exit(), 2_000).unref()
}

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

/** Indexes newly cached tools, so that completing a word is fast. */
async function prepareCompletions(io: Io): Promise<void> {
  const { completionFolders, refreshToolIndexes } = await import('./completion/cache.ts')
  await refreshToolIndexes(completionFolders(dataFolder(io))).catch(() => undefined)
}

/** Whether `--help` asks for the help of a tool. */
function namesTool({ verb, positionals, command, flags }: Invocation, { env }: Io): boolean {
  const hasServer = command !== undefined || flags.server !== undefined || env.UNFOLD_SERVER !== undefined
  return verbs[verb]?.callsTool === true && positionals.length > (hasServer ? 0 : 1)
}

function serverIn(invocation: Invocation | undefined, defaultServer: string | undefined): string | undefined {
  if (invocation === undefined || invocation.command !== undefined) return undefined
  return textOf(invocation.flags, 'server') ?? defaultServer ?? invocation.positionals[0]
}

/** Flags that decide how an error is printed when the command line itself is invalid. */
const flagsBeforeParsing = (argv: readonly string[]) => ({
  json: argv.includes('--json'),
  jsonl: argv.includes('--jsonl'),
  debug: argv.includes('--debug'),
})
