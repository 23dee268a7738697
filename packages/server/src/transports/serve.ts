import { parseArgs } from 'node:util'
import { isFailure, parseBoolean } from '@unfold-mcp/core'
import { stopRuntime } from '../runtime/runtime.ts'
import { runtimeOf, type Servable } from '../runtime/servable.ts'
import { viewOfUrl } from '../scope/url-view.ts'
import type { Principal } from '../tool/principal.ts'
import { errorMessage } from '../tool/report.ts'
import { type ListenOptions, listen } from './node.ts'
import { watchRejections } from './rejections.ts'
import { slowClientMessage } from './slow-client.ts'
import { type StdioOptions, serveStdio } from './stdio.ts'

export interface ServeOptions<P extends Principal = Principal>
  extends Omit<ListenOptions<P>, 'port'>,
    Pick<StdioOptions<P>, 'principal'> {
  /** Command line arguments. Default: those of the process. */
  readonly argv?: readonly string[]
  /** Environment with `LAZY_MODE`. Default: that of the process. */
  readonly environment?: { readonly [name: string]: string | undefined }
}

const usage = `Usage: [--http [<port>]] [--host <address>] [--groups a,b] [--tags a,b] [--versions tool@1] [--read-only]
       [--exposure auto|everything|native|groups|lazy|search|code] [--no-counts]

Without --http the server uses stdio. With --http, clients connect to http://127.0.0.1:<port>/mcp (default port: 7420)
and select a view in the URL: /mcp?groups=a,b

LAZY_MODE=true in the environment starts every client with only manage_tools, unless its URL selects another exposure;
LAZY_MODE=false disables lazy mode.`

/**
 * Serves as the command line says: over stdio by default, over HTTP with `--http`. Prints an error and exits if it cannot start;
 * closes everything and exits on SIGINT and SIGTERM. Reports all unhandled rejections of the process and keeps serving.
 */
export async function serve<P extends Principal = Principal>(served: Servable<P>, options: ServeOptions<P> = {}): Promise<void> {
  try {
    await start(served, options)
  } catch (error) {
    const message = errorMessage(error)
    console.error(isFailure(error) ? `${message} (${error.reason})` : message)
    process.exitCode = 1
    process.exit()
  }
}

async function start<P extends Principal>(
  served: Servable<P>,
  { argv = process.argv.slice(2), environment = process.env, principal, ...options }: ServeOptions<P>,
): Promise<void> {
  const { help, http, host, groups, tags, versions, exposure, 'read-only': readOnly, 'no-counts': noCounts } = parseFlags(argv)
  if (help === true) {
    console.error(usage)
    return
  }
  runtimeOf(served).scopes.log = (line) => console.error(`[unfold] ${line}`)
  const lazy = parseBoolean('LAZY_MODE', environment.LAZY_MODE)
  if (lazy !== undefined) runtimeOf(served).scopes.factory.setLazy(lazy)
  const view = new URLSearchParams()
  for (const [name, value] of Object.entries({
    groups,
    tags,
    versions,
    exposure,
    readOnly: readOnly?.toString(),
    counts: noCounts === true ? 'false' : undefined,
  }))
    if (value !== undefined) view.set(name, value)
  if (http === undefined) {
    await runtimeOf(served).scopes.validate(viewOfUrl(view), principal)
    const stdio = serveStdio(served, {
      view: view.toString(),
      reportRejections: false,
      ...(principal !== undefined && { principal }),
    })
    const end = closeOnSignal(served, () => stdio.close())
    if (options.reportRejections !== false) watchRejections(runtimeOf(served), 'process')
    // The author's timers and connections would keep a server alive that has lost its client.
    process.stdin.once('close', end)
    // Someone typed the command: without this line, a server that waits looks like one that hangs.
    if (process.stdin.isTTY) console.error(terminalMessage(runtimeOf(served).scopes.serverName))
    return
  }
  if (view.size > 0)
    throw new Error(`Over HTTP each client selects its view in the URL: /mcp?${decodeURIComponent(view.toString())}`)
  const server = await listen(served, {
    onSlowClient: (client) => console.error(`[unfold] ${slowClientMessage(client)}`),
    ...options,
    ...(host !== undefined && { host }),
    port: parsePort(http),
    reportRejections: false,
  })
  if (options.reportRejections !== false) watchRejections(runtimeOf(served), 'process')
  console.error(startMessage(runtimeOf(served).scopes.serverName, server.url, options.authenticate !== undefined))
  closeOnSignal(served, () => server.close())
}

function parseFlags(argv: readonly string[]) {
  // parseArgs does not support an optional value, which the port of `--http` is.
  const args = argv.flatMap((arg, index) => {
    const next = argv[index + 1]
    return arg === '--http' && (next === undefined || next.startsWith('-')) ? ['--http', '7420'] : [arg]
  })
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
    throw new Error(`${errorMessage(error)}\n\n${usage}`, { cause: error })
  }
}

function parsePort(text: string): number {
  const port = Number(text)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw new Error(`--http requires a port between 0 and 65535, not "${text}".`)
}

function startMessage(name: string, url: string, requiresToken: boolean): string {
  const header = requiresToken ? ' --header "Authorization: Bearer <token>"' : ''
  return `Serving on ${url}\nConnect a client: claude mcp add --transport http ${serverNameFor(name)} ${url}${header}\nStop with Ctrl-C.`
}

const terminalMessage = (name: string): string =>
  `${name} is waiting for an MCP client on standard input. Clients start this command themselves; for HTTP, add --http 8000.\nStop with Ctrl-C.`

/** Replaces characters that hosts do not accept in a server name. */
function serverNameFor(name: string): string {
  const safe = name.replaceAll(/[^A-Za-z0-9_-]+/gu, '-').replaceAll(/^-+|-+$/gu, '')
  return safe === '' ? 'my-server' : safe
}

function closeOnSignal(served: object, close: () => Promise<void>): () => void {
  const end = (): void => {
    // Releases what group hooks set up for all clients.
    const ended = close().then(() => stopRuntime(runtimeOf(served)))
    void ended.finally(() => process.exit(0))
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end)
  return end
}
