import { type ChildProcess, spawn } from 'node:child_process'
import { accessSync, constants, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { pipeChannel } from '../capture/wire/pipe.ts'
import { webSocketChannel } from '../capture/wire/websocket.ts'
import { Wire } from '../capture/wire/wire.ts'

/** A browser that can be watched. */
export interface Chromium extends AsyncDisposable {
  readonly wire: Wire
  /** Started by us, or somebody's own that we only look at. */
  readonly isOurs: boolean
  readonly isHeadless: boolean
  /** Ends one that we started, and removes its profile unless that was given; only lets go of one that we did not start. */
  close(): Promise<void>
}

/** No browser was found. The message says how to get one. */
export class ChromiumMissing extends Error {
  override readonly name = 'ChromiumMissing'
}

/** A browser was found and could not be started, or none could be reached. */
export class ChromiumFailed extends Error {
  override readonly name = 'ChromiumFailed'
}

export interface Environment {
  readonly platform: NodeJS.Platform
  readonly variables: { readonly [name: string]: string | undefined }
  /** The browser that was asked for; `UNFOLD_BROWSER_PATH` and then the usual places, without one. */
  readonly path?: string | undefined
}

const commands = [
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
  'microsoft-edge-stable',
  'microsoft-edge',
] as const
const folders = [
  '/usr/bin',
  '/usr/local/bin',
  '/snap/bin',
  '/opt/google/chrome',
  '/opt/microsoft/msedge',
  '/var/lib/flatpak/exports/bin',
] as const
const macApps = ['Chromium', 'Google Chrome', 'Google Chrome Canary', 'Microsoft Edge', 'Brave Browser'] as const
const windowsPrograms = [
  'Chromium\\Application\\chrome.exe',
  'Google\\Chrome\\Application\\chrome.exe',
  'Microsoft\\Edge\\Application\\msedge.exe',
]
const windowsRoots = ['ProgramFiles', 'ProgramFiles(x86)', 'LOCALAPPDATA'] as const

const howToInstall: { readonly [platform in NodeJS.Platform]?: string } = {
  linux:
    '  Debian, Ubuntu  sudo apt-get install chromium\n  Fedora          sudo dnf install chromium\n  Arch            sudo pacman -S chromium',
  darwin: '  macOS           brew install --cask chromium    (or Google Chrome: brew install --cask google-chrome)',
  win32: '  Windows         winget install Google.Chrome    (Microsoft Edge, which Windows has, works too)',
}

/** The path of a Chromium, Chrome or Edge; throws a `ChromiumMissing` when there is none. */
export function findChromium({ platform, variables, path }: Environment): string {
  const asked = path ?? variables.UNFOLD_BROWSER_PATH
  if (asked !== undefined && asked !== '') {
    if (isProgram(asked, platform)) return asked
    throw new ChromiumMissing(
      `There is no program at ${asked}, which was given as the browser. Correct --browser or UNFOLD_BROWSER_PATH, or leave it out to use the one of this machine.`,
    )
  }
  const found = candidatePaths(platform, variables).find((place) => isProgram(place, platform))
  if (found !== undefined) return found
  const how = howToInstall[platform] ?? '  Install Chromium with the package manager of this system.'
  throw new ChromiumMissing(
    `No Chromium, Chrome or Edge was found on this machine. Install one:\n${how}\nor say where one is with --browser <path> or UNFOLD_BROWSER_PATH.`,
  )
}

function candidatePaths(platform: NodeJS.Platform, variables: Environment['variables']): readonly string[] {
  if (platform === 'darwin') {
    const roots = ['/Applications', ...(variables.HOME === undefined ? [] : [`${variables.HOME}/Applications`])]
    return roots.flatMap((root) => macApps.map((app) => `${root}/${app}.app/Contents/MacOS/${app}`))
  }
  if (platform === 'win32') {
    const roots = windowsRoots.map((name) => variables[name]).filter((root) => root !== undefined)
    return windowsPrograms.flatMap((program) => roots.map((root) => `${root}\\${program}`))
  }
  const onPath = (variables.PATH ?? '').split(delimiter).filter((folder) => folder.startsWith('/'))
  return commands.flatMap((command) => [...onPath, ...folders].map((folder) => join(folder, command)))
}

function isProgram(path: string, platform: NodeJS.Platform): boolean {
  try {
    if (platform !== 'win32') accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

export interface LaunchOptions {
  /** As `findChromium` gives it. */
  readonly executablePath: string
  readonly headless: boolean
  /** A folder to keep the profile in; a fresh one that is removed at the end, without it. */
  readonly profile?: string | undefined
  /** Further arguments for the browser. */
  readonly args?: readonly string[]
}

const startMs = 30_000
const endMs = 5_000
const closeTimeoutMs = 1_000
const hasGroups = process.platform !== 'win32'
const removals = 5
const removalMs = 20
const maxStderrLength = 4_000

// No first-run pages, no sign-in, no reports and no traffic of the browser's own among the pages'.
const quiet = [
  '--no-first-run',
  '--no-default-browser-check',
  '--no-service-autorun',
  '--disable-background-networking',
  '--disable-breakpad',
  '--disable-client-side-phishing-detection',
  '--disable-component-extensions-with-background-pages',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-domain-reliability',
  '--disable-search-engine-choice-screen',
  '--disable-sync',
  '--metrics-recording-only',
  '--password-store=basic',
  '--use-mock-keychain',
  '--disable-features=AimEnabled,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,InterestFeedContentSuggestions,MediaRouter,NetworkTimeServiceQuerying,OptimizationHints,PreconnectToSearch,Translate',
]
// A page that comes back as it was left has no load of its own, and nothing to measure.
const watched = ['--disable-back-forward-cache']
// Tabs behind others work as if they were in front: without windows, none is.
const unseen = [
  '--headless',
  '--hide-scrollbars',
  '--mute-audio',
  '--window-size=1280,720',
  '--disable-backgrounding-occluded-windows',
  '--disable-background-timer-throttling',
  '--disable-renderer-backgrounding',
]

/** Starts a browser and waits until it answers; throws a `ChromiumFailed` with its own words when it does not. */
export async function launchChromium({ executablePath, headless, profile, args = [] }: LaunchOptions): Promise<Chromium> {
  const folder = profile ?? mkdtempSync(join(tmpdir(), 'unfold-browser-'))
  const isRoot = process.platform === 'linux' && process.getuid?.() === 0
  const all = [
    '--remote-debugging-pipe',
    `--user-data-dir=${folder}`,
    ...quiet,
    ...watched,
    ...(headless ? unseen : []),
    // In containers this folder is often too small for a page's pictures.
    ...(process.platform === 'linux' ? ['--disable-dev-shm-usage'] : []),
    // Chromium refuses to start for root with its sandbox.
    ...(isRoot ? ['--no-sandbox'] : []),
    ...args,
    'about:blank',
  ]
  // A group of its own, so that it can be ended with all its helpers.
  const child = spawn(executablePath, all, { stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'], detached: hasGroups })
  const complaint = captureStderr(child)
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`))
  })
  const remove = (): void => {
    if (profile === undefined) removeProfile(folder)
  }
  // A process that is simply ended must not leave a browser and a folder behind.
  const atExit = (): void => {
    kill(child)
    remove()
  }
  process.once('exit', atExit)
  const [, , , toBrowser, fromBrowser] = child.stdio
  const wire = new Wire(pipeChannel(toBrowser as Writable, fromBrowser as Readable))
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => {
    closing ??= end(child, wire, ended).finally(() => {
      process.off('exit', atExit)
      remove()
    })
    return closing
  }
  try {
    const answered = wire.send('Browser.getVersion', undefined, { timeoutMs: startMs })
    await Promise.race([answered, ended.then((how) => Promise.reject(new Error(how)))])
  } catch (error) {
    // A browser that ends breaks the pipe first; how it ended says more.
    const how = await Promise.race([ended, later(closeTimeoutMs)])
    await close()
    const why = how === undefined ? 'it does not answer' : `it ended with ${how}`
    throw new ChromiumFailed(`The browser at ${executablePath} could not be started: ${why}${complaint()}`, { cause: error })
  }
  return { wire, isOurs: true, isHeadless: headless, close, [Symbol.asyncDispose]: close }
}

/** Ends a browser and its helpers at once. */
function kill(child: ChildProcess): void {
  try {
    if (hasGroups && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  } catch {
    // All gone already.
  }
  child.kill('SIGKILL')
}

/** Removes a profile; again when a helper of the browser, in its last moment, wrote something into it once more. */
function removeProfile(folder: string): void {
  for (let attempt = 0; attempt < removals; attempt += 1) {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, removalMs)
    if (!existsSync(folder)) return
  }
}

function later(ms: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), ms).unref())
}

/** Keeps the last words a browser writes, and gives them when asked, with advice where we know some. */
function captureStderr(child: ChildProcess): () => string {
  let last = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    last = (last + chunk.toString()).slice(-maxStderrLength)
  })
  return () => {
    const advice = /sandbox/i.test(last)
      ? '\nIts sandbox does not work here. In a container, run as another user, or allow user namespaces.'
      : /display|ozone|x11|wayland/i.test(last)
        ? '\nThere is no display here. Use --headless.'
        : /profile|Singleton|already running|existing browser session/i.test(last)
          ? '\nAnother browser may be using this profile. End it, or give another --profile.'
          : ''
    return last.trim() === '' ? '.' : `. It said:\n${last.trim()}${advice}`
  }
}

/** Asks the browser to end, and ends it when it does not. */
async function end(child: ChildProcess, wire: Wire, ended: Promise<string>): Promise<void> {
  if (child.pid === undefined) return
  wire.send('Browser.close', undefined).catch(() => undefined)
  const timer = setTimeout(() => kill(child), endMs)
  await ended
  clearTimeout(timer)
  wire.close()
}

export interface AttachOptions {
  /** Whether a browser on another machine is accepted. */
  readonly allowRemote?: boolean
  readonly timeoutMs?: number
}

const attachMs = 10_000

/** Connects to a browser that was started with `--remote-debugging-port`; throws a `ChromiumFailed` when there is none. Never ends it. */
export async function attachChromium(
  address: string,
  { allowRemote = false, timeoutMs = attachMs }: AttachOptions = {},
): Promise<Chromium> {
  const url = addressOf(address, allowRemote)
  try {
    const endpoint = url.protocol.startsWith('ws') && url.pathname.length > 1 ? url : await endpointOf(url, timeoutMs)
    if (!allowRemote) requireLoopback(endpoint)
    const wire = new Wire(await webSocketChannel(endpoint, timeoutMs))
    const { userAgent } = await wire.send('Browser.getVersion', undefined, { timeoutMs })
    const close = async (): Promise<void> => {
      wire.close()
      await wire.closed
    }
    return { wire, isOurs: false, isHeadless: /headless/i.test(userAgent), close, [Symbol.asyncDispose]: close }
  } catch (error) {
    if (error instanceof ChromiumFailed) throw error
    const why = reasonOf(error)
    throw new ChromiumFailed(
      `No browser could be reached at ${address}: ${why}. Start one with --remote-debugging-port=9222 --user-data-dir=<a folder of its own>, and attach to http://127.0.0.1:9222.`,
      { cause: error },
    )
  }
}

function addressOf(address: string, allowRemote: boolean): URL {
  const text = /^[a-z]+:\/\//i.test(address) ? address : `http://${address}`
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^(?:http|https|ws|wss):$/.test(url.protocol)) {
    throw new ChromiumFailed(
      `"${address}" is no address of a browser. Write one such as http://127.0.0.1:9222 or ws://127.0.0.1:9222/devtools/browser/….`,
    )
  }
  if (!allowRemote) requireLoopback(url)
  return url
}

function requireLoopback({ hostname }: URL): void {
  if (/^(?:localhost|127(?:\.\d+){3}|\[::1\])$/i.test(hostname)) return
  throw new ChromiumFailed(
    `${hostname} is another machine. Whoever can reach a browser this way controls it, so only browsers on this machine are watched. Forward its port to this one (ssh -L 9222:127.0.0.1:9222 …) and attach to http://127.0.0.1:9222.`,
  )
}

/** Where a browser listens, as it says itself. */
async function endpointOf(url: URL, timeoutMs: number): Promise<URL> {
  const asked = new URL('/json/version', url)
  asked.protocol = /^(?:https|wss):$/.test(url.protocol) ? 'https:' : 'http:'
  const response = await fetch(asked, { signal: AbortSignal.timeout(timeoutMs), redirect: 'error' })
  const answer: unknown = response.ok ? await response.json().catch(() => undefined) : undefined
  const said =
    typeof answer === 'object' && answer !== null && 'webSocketDebuggerUrl' in answer ? answer.webSocketDebuggerUrl : undefined
  if (typeof said !== 'string' || !URL.canParse(said)) throw new Error('something answers there, but not as a browser does')
  return new URL(said)
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  if (cause instanceof Error) return 'code' in cause && cause.code === 'ECONNREFUSED' ? 'nothing answers there' : cause.message
  return error.message
}
