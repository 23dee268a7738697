import { parseArgs } from 'node:util'
import { isFailure, parseBoolean } from '@unfold-mcp/core'
import { stopRuntime } from '../runtime/runtime.ts'
import { runtimeOf, type Servable } from '../runtime/servable.ts'
import { viewOfUrl } from '../scope/url-view.ts'
import type { Principal } from '../tool/principal.ts'
import { type Listening, type ListenOptions, listen } from './node.ts'
import { type StdioOptions, serveStdio } from './stdio.ts'

export interface ServeOptions<P extends Principal = Principal>
  extends Omit<ListenOptions<P>, 'port'>,
    Pick<StdioOptions<P>, 'principal'> {
  /** The command line to read; the process's own by default. */
  readonly argv?: readonly string[]
  /** The environment to read `LAZY_MODE` from; the process's own by default. */
  readonly environment?: { readonly [name: string]: string | undefined }
}

const usage = `Usage: [--http [<port>]] [--host <address>] [--groups a,b] [--tags a,b] [--versions tool@1] [--read-only]
       [--exposure groups|everything|lazy|search|auto] [--no-counts]

Without --http the server speaks over standard input and output. With it, clients connect to http://127.0.0.1:<port>/mcp
(port 7420 when none is given) and ask for a view in the address: /mcp?groups=a,b

LAZY_MODE=true in the environment starts every client with manage_tools alone, unless its address asks otherwise;
LAZY_MODE=false switches lazy mode off where the server declares it.`

/**
 * Does what the command line asks for: standard input and output by default, HTTP with `--http`. Ends the process with a
 * message when it cannot start, and with everything closed on SIGINT and SIGTERM.
 */
export async function serve<P extends Principal = Principal>(served: Servable<P>, options: ServeOptions<P> = {}): Promise<void> {
  try {
    await start(served, options)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    console.error(isFailure(error) ? `${message} (${error.reason})` : message)
    process.exitCode = 1
    process.exit()
  }
}

async function start<P extends Principal>(
  served: Servable<P>,
  { argv = process.argv.slice(2), environment = process.env, principal, ...options }: ServeOptions<P>,
): Promise<void> {
  const { help, http, host, groups, tags, versions, exposure, 'read-only': readOnly, 'no-counts': noCounts } = flagsOf(argv)
  if (help === true) {
    console.error(usage)
    return
  }
  runtimeOf(served).scopes.log = (line) => console.error(`[unfold] ${line}`)
  const lazy = parseBoolean('LAZY_MODE', environment.LAZY_MODE)
  if (lazy !== undefined) runtimeOf(served).scopes.factory.setLazy(lazy)
  const wanted = new URLSearchParams()
  for (const [name, value] of Object.entries({
    groups,
    tags,
    versions,
    exposure,
    readOnly: readOnly?.toString(),
    counts: noCounts === true ? 'false' : undefined,
  }))
    if (value !== undefined) wanted.set(name, value)
  if (http === undefined) {
    await runtimeOf(served).scopes.validate(viewOfUrl(wanted), principal)
    const stdio = serveStdio(served, { view: wanted.toString(), ...(principal !== undefined && { principal }) })
    const end = untilSignal(served, () => stdio.close())
    // Timers and connections of the author's would otherwise keep a server alive that nobody can reach any more.
    process.stdin.once('close', end)
    return
  }
  if (wanted.size > 0)
    throw new Error(`Over HTTP each client asks for its view in the address: /mcp?${decodeURIComponent(wanted.toString())}`)
  const listening = await listen(served, { ...options, ...(host !== undefined && { host }), port: portOf(http) })
  console.error(welcome(runtimeOf(served).scopes.serverName, listening, options.authenticate !== undefined))
  untilSignal(served, () => listening.close())
}

function flagsOf(argv: readonly string[]) {
  // `--http` stands alone or with a port, which parseArgs does not know.
  const args = argv.flatMap((arg, index) =>
    arg === '--http' && !/^\d+$/u.test(argv[index + 1] ?? '') ? ['--http', '7420'] : [arg],
  )
  const text = { type: 'string' } as const
  const options = {
    help: { type: 'boolean', short: 'h' },
    http: text,
    host: text,
    groups: text,
    tags: text,
    versions: text,
    exposure: text,
    'read-only': { type: 'boolean' },
    'no-counts': { type: 'boolean' },
  } as const
  try {
    return parseArgs({ args, options }).values
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`, { cause: error })
  }
}

function portOf(text: string): number {
  const port = Number(text)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw new Error(`--http wants a port between 0 and 65535, not "${text}".`)
}

function welcome(name: string, { url }: Listening, wantsToken: boolean): string {
  const header = wantsToken ? ' --header "Authorization: Bearer <token>"' : ''
  return `Serving on ${url}\nConnect a client: claude mcp add --transport http ${wordOf(name)} ${url}${header}\nStop with Ctrl-C.`
}

/** The name as hosts accept it on their command line: letters, digits, hyphens and underscores. */
function wordOf(name: string): string {
  const word = name.replaceAll(/[^A-Za-z0-9_-]+/gu, '-').replaceAll(/^-+|-+$/gu, '')
  return word === '' ? 'my-server' : word
}

function untilSignal(served: object, close: () => Promise<void>): () => void {
  const end = (): void => {
    // What hooks prepared for all clients outlives every one of them, and is released with the process.
    const ended = close().then(() => stopRuntime(runtimeOf(served)))
    void ended.finally(() => process.exit(0))
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end)
  return end
}
