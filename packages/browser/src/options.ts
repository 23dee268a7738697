import { parseArgs } from 'node:util'

/** Command line options. */
export interface Options {
  /** Page to open first. */
  readonly open: string | undefined
  /** Debugging URL of a running browser to attach to. */
  readonly attach: string | undefined
  readonly headless: boolean
  /** Profile folder to keep; default: a temporary one. */
  readonly profile: string | undefined
  /** Browser executable. */
  readonly browser: string | undefined
  /** HTTP port; default: stdio. */
  readonly http: number | undefined
  /** Folder for generated files. */
  readonly output: string
  /** Folder for saved sessions. */
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
  --http [<port>]    Serve on http://127.0.0.1:<port>/mcp (default: ${defaultPort}). Without it, standard input and output,
                     except when started in a terminal: then HTTP
  --attach <url>     Watch a running browser, started with --remote-debugging-port=9222: http://127.0.0.1:9222
  --headless         Without a window
  --profile <dir>    Profile folder to keep (logins, settings); default: a temporary one
  --browser <path>   Chromium, Chrome or Edge executable (also UNFOLD_BROWSER_PATH)
  --output <dir>     Folder for files of generate; default: the current folder
  --no-counts        Omit counts from _meta, for clients that reject unknown keys
  --version, --help

Exit codes: 0 ended, 1 failed, 2 usage error, 4 no browser found or none to attach to.`

/** Invalid command line. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

interface Context {
  readonly environment: { readonly [name: string]: string | undefined }
  readonly home: string
  readonly folder: string
  /** Stdin is a terminal. */
  readonly isTerminal: boolean
}

/** Parses the command line; throws a `UsageError`. */
export function optionsOf(argv: readonly string[], { environment, home, folder, isTerminal }: Context): Options {
  const { values, positionals } = parsed(argv)
  const first = positionals[0]
  if (positionals.length > 1) throw new UsageError(`Only one page can be opened first, not ${positionals.length}.`)
  if (first !== undefined && values.open !== undefined) throw new UsageError('The page to open is specified twice. Remove one.')
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
  // `parseArgs` does not support an option with an optional value.
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

/** Accepts URLs as people type them, such as `localhost:5173`. */
function addressOf(text: string): string {
  const url = /^[a-z][a-z0-9+.-]*:\/\//iu.test(text) || /^(about|data|file|chrome):/iu.test(text) ? text : `http://${text}`
  if (URL.canParse(url)) return url
  throw new UsageError(`"${text}" is not a valid page URL. Use one such as http://localhost:5173.`)
}

function portOf(text: string): number {
  const port = Number(text)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw new UsageError(`--http requires a port between 0 and 65535, not "${text}".`)
}
