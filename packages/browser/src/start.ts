import { listen, serveStdio } from '@unfold-mcp/server'
import type { Options } from './options.ts'
import { attachChromium, type Chromium, findChromium, launchChromium } from './page/chromium.ts'
import { firstPage } from './page/first-page.ts'
import { watchBrowser } from './page/watched-browser.ts'
import { Baselines } from './recording/baselines.ts'
import { Recording } from './recording/recording.ts'
import { StatusLine, statusText } from './recording/status.ts'
import { kinds } from './records/records.ts'
import { Redactor } from './redaction/redaction.ts'
import { browserToolbox } from './toolbox.ts'

/** Watches a browser and serves its data until a signal or the client ends it. */
export async function start(options: Options): Promise<void> {
  let stop: () => unknown = () => process.exit(0)
  // Registered first, so that a browser being started does not stay behind.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => void stop())
  const recording = new Recording({ redactor: new Redactor() })
  const chromium = await browserFor(options)
  const browser = await watchBrowser(chromium, recording)
  const { open, sessions, output, counts } = options
  const first = open === undefined ? undefined : firstPage(browser, recording, open)
  const toolbox = browserToolbox(
    {
      recording,
      browser,
      baselines: new Baselines(),
      ...(first !== undefined && { firstPage: first.isHere }),
      sessions,
      output,
    },
    { counts },
  )
  const line = new StatusLine(process.stderr, () =>
    statusText(
      recording.facts.read(),
      browser.tabs().length,
      kinds.reduce((sum, kind) => sum + recording.of(kind).evicted, 0),
    ),
  )
  let isEnding = false
  const end = async (code: number): Promise<void> => {
    if (isEnding) return
    isEnding = true
    line.end()
    await Promise.allSettled([served.close(), toolbox.close()])
    await browser.close().catch(() => undefined)
    process.exit(code)
  }
  const served = await serveAs(options, toolbox, (text) => line.print(text)).catch(async (error: unknown) => {
    await browser.close().catch(() => undefined)
    throw error
  })
  stop = () => end(0)
  // The client has closed stdin.
  if (options.http === undefined) process.stdin.once('close', () => void end(0))
  const mourn = async (): Promise<void> => {
    const why = await browser.ended
    if (!isEnding) line.print(`The browser is gone (${why}). Recorded data is still available; restart to continue watching.`)
  }
  void mourn()
  recording.facts.subscribe(() => line.refresh())
  browser.onChange(() => line.refresh())
  await first?.open().then(
    () => line.print(`Watching ${open}`),
    (error: unknown) => line.print(error instanceof Error ? error.message : String(error)),
  )
  line.refresh()
}

async function browserFor({ attach, browser, headless, profile }: Options): Promise<Chromium> {
  if (attach !== undefined) return attachChromium(attach)
  const executablePath = findChromium({ platform: process.platform, variables: process.env, path: browser })
  const hasDisplay = process.platform !== 'linux' || Boolean(process.env.DISPLAY) || Boolean(process.env.WAYLAND_DISPLAY)
  if (!hasDisplay && !headless) console.error('No display found; the browser runs headless.')
  return launchChromium({ executablePath, headless: headless || !hasDisplay, profile })
}

async function serveAs({ http }: Options, toolbox: object, print: (text: string) => void): Promise<{ close(): Promise<void> }> {
  if (http === undefined) return serveStdio(toolbox)
  const listening = await listen(toolbox, { port: http })
  print(`Serving on ${listening.url}
Connect a client:
  claude mcp add --transport http browser ${listening.url}
  or in its configuration: { "mcpServers": { "browser": { "type": "http", "url": "${listening.url}" } } }
Stop with Ctrl-C.`)
  return listening
}
