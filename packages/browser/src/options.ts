import { parseArgs } from 'node:util'

/** What the command line asks for. */
export interface Options {
  /** The page to open first. */
  readonly open: string | undefined
  /** Where a browser that is running already can be reached, instead of starting one. */
  readonly attach: string | undefined
  readonly headless: boolean
  /** The folder of a browser profile to keep; a fresh one that is removed afterwards, without it. */
  readonly profile: string | undefined
  /** The browser to start. */
  readonly browser: string | undefined
  /** The port for HTTP; standard input and output, without one. */
  readonly http: number | undefined
  /** Where generated files are written. */
  readonly output: string
  /** Where sessions are kept. */
  readonly sessions: string
  readonly counts: boolean
  readonly help: boolean
  readonly version: boolean
}

const defaultPort = 7421

export const usage = `Usage: unfold-browser [<url>] [options]

Starts a browser, watches what its pages do, and serves it to an MCP client: console, network, WebSockets, user actions,
performance, accessibility. Tools and modes appear as there is data for them.

  --open <url>       Open this page first (also as the first argument)
  --http [<port>]    Serve on http://127.0.0.1:<port>/mcp (${defaultPort} unless told). Without it, standard input and output,
                     unless you start it in a terminal yourself: then HTTP, because nobody speaks MCP by hand
  --attach <url>     Watch a browser that runs already, started with --remote-debugging-port=9222: http://127.0.0.1:9222
  --headless         Without a window
  --profile <dir>    Keep the browser's profile in this folder (logins, settings); a fresh one each time without it
  --browser <path>   The Chromium, Chrome or Edge to start (also UNFOLD_BROWSER_PATH)
  --output <dir>     Where generate writes files; the current folder by default
  --no-counts        Keep counts out of _meta, for clients that refuse what they do not know
  --version, --help

Exit codes: 0 ended, 1 failed, 2 wrong usage, 4 no browser found or none to attach to.`

/** A command line that cannot be followed. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

interface Context {
  readonly environment: { readonly [name: string]: string | undefined }
  readonly home: string
  readonly folder: string
  /** Whether a person sits at standard input. */
  readonly isTerminal: boolean
}

/** What the arguments ask for; throws a `UsageError` for what cannot be. */
export function optionsOf(argv: readonly string[], { environment, home, folder, isTerminal }: Context): Options {
  const { values, positionals } = parsed(argv)
  const first = positionals[0]
  if (positionals.length > 1) throw new UsageError(`One page can be opened first, not ${positionals.length}.`)
  if (first !== undefined && values.open !== undefined) throw new UsageError('The page to open is given twice. Leave one out.')
  const open = values.open ?? first
  if (values.attach !== undefined && (values.profile !== undefined || values.browser !== undefined || values.headless === true))
    throw new UsageError(
      '--attach watches a browser that runs already: --profile, --browser and --headless are for one it starts.',
    )
  const data = environment.UNFOLD_HOME ?? `${environment.XDG_DATA_HOME ?? `${home}/.local/share`}/unfold`
  const wantsPort = values.http ?? (isTerminal ? String(defaultPort) : undefined)
  return {
    open: open === undefined ? undefined : addressOf(open),
    attach: values.attach,
    headless: values.headless ?? false,
    profile: values.profile,
    browser: values.browser ?? environment.UNFOLD_BROWSER_PATH,
    http: wantsPort === undefined ? undefined : portOf(wantsPort),
    output: values.output ?? folder,
    sessions: `${data}/browser/sessions`,
    counts: values['no-counts'] !== true,
    help: values.help ?? false,
    version: values.version ?? false,
  }
}

function parsed(argv: readonly string[]) {
  // `--http` stands alone or with a port, which parseArgs does not know.
  const args = argv.flatMap((arg, index) =>
    arg === '--http' && !/^\d+$/u.test(argv[index + 1] ?? '') ? ['--http', String(defaultPort)] : [arg],
  )
  const text = { type: 'string' } as const
  const flag = { type: 'boolean' } as const
  const options = {
    open: text,
    attach: text,
    profile: text,
    browser: text,
    http: text,
    output: text,
    headless: flag,
    'no-counts': flag,
    version: flag,
    help: { ...flag, short: 'h' },
  } as const
  try {
    return parseArgs({ args, options, allowPositionals: true })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

/** An address as people type it: `localhost:5173` is a page too. */
function addressOf(text: string): string {
  const url = /^[a-z][a-z0-9+.-]*:\/\//iu.test(text) || /^(about|data|file|chrome):/iu.test(text) ? text : `http://${text}`
  if (URL.canParse(url)) return url
  throw new UsageError(`"${text}" is no address of a page. Write one such as http://localhost:5173.`)
}

function portOf(text: string): number {
  const port = Number(text)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw new UsageError(`--http wants a port between 0 and 65535, not "${text}".`)
}
