import { type ChildProcess, spawn } from 'node:child_process'
import { accessSync, constants, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as after } from 'node:timers/promises'
import { pipeChannel } from '../capture/wire/pipe.ts'
import { webSocketChannel } from '../capture/wire/websocket.ts'
import { Wire } from '../capture/wire/wire.ts'

/** Browser that can be watched. */
export interface Chromium extends AsyncDisposable {
  /** @internal */
  readonly wire: Wire
  /** Launched by this process, or attached to. */
  readonly isOurs: boolean
  readonly isHeadless: boolean
  /** Ends a launched browser and removes its temporary profile; only disconnects from an attached one. */
  close(): Promise<void>
}

/** No browser was found. The message says how to install one. */
export class ChromiumMissing extends Error {
  override readonly name = 'ChromiumMissing'
}

/** A browser could not be started or reached. */
export class ChromiumFailed extends Error {
  override readonly name = 'ChromiumFailed'
}

export interface Environment {
  readonly platform: NodeJS.Platform
  readonly variables: { readonly [name: string]: string | undefined }
  /** Requested browser; default: `UNFOLD_BROWSER_PATH`, then common locations. */
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

/** Finds Chromium, Chrome or Edge; throws a `ChromiumMissing` if there is none. */
export function findChromium({ platform, variables, path }: Environment): string {
  const asked = path ?? variables.UNFOLD_BROWSER_PATH
  if (asked !== undefined && asked !== '') {
    if (isProgram(asked, platform)) return asked
    throw new ChromiumMissing(
      `No executable at ${asked}. Correct --browser or UNFOLD_BROWSER_PATH, or remove it to use an installed browser.`,
    )
  }
  const found = candidatePaths(platform, variables).find((place) => isProgram(place, platform))
  if (found !== undefined) return found
  const how = howToInstall[platform] ?? '  Install Chromium with the package manager of this system.'
  throw new ChromiumMissing(
    `No Chromium, Chrome or Edge was found on this machine. Install one:\n${how}\nor set its path with --browser <path> or UNFOLD_BROWSER_PATH.`,
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
  /** From `findChromium`. */
  readonly executablePath: string
  readonly headless: boolean
  /** Profile folder to keep; default: a temporary one. */
  readonly profile?: string | undefined
  /** Further command line arguments. */
  readonly args?: readonly string[]
}

const startMs = 30_000
const endMs = 5_000
const closeTimeoutMs = 1_000
const hasGroups = process.platform !== 'win32'
const removals = 5
const removalMs = 20
const maxStderrLength = 4_000

// No first-run pages, sign-in, reports or background traffic.
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
// A page restored from the back/forward cache has no load to measure.
const watched = ['--disable-back-forward-cache']
// Background tabs behave like the active one: without windows, none is active.
const unseen = [
  '--headless',
  '--hide-scrollbars',
  '--mute-audio',
  '--window-size=1280,720',
  '--disable-backgrounding-occluded-windows',
  '--disable-background-timer-throttling',
  '--disable-renderer-backgrounding',
]

/** Starts a browser and waits until it responds; throws a `ChromiumFailed` with its stderr output. */
export async function launchChromium({ executablePath, headless, profile, args = [] }: LaunchOptions): Promise<Chromium> {
  const folder = profile ?? mkdtempSync(join(tmpdir(), 'unfold-browser-'))
  const isRoot = process.platform === 'linux' && process.getuid?.() === 0
  const all = [
    '--remote-debugging-pipe',
    `--user-data-dir=${folder}`,
    ...quiet,
    ...watched,
    ...(headless ? unseen : []),
    // In containers /dev/shm is often too small.
    ...(process.platform === 'linux' ? ['--disable-dev-shm-usage'] : []),
    // Chromium refuses to run as root with its sandbox.
    ...(isRoot ? ['--no-sandbox'] : []),
    ...args,
    'about:blank',
  ]
  // A separate process group, so that all helper processes end with it.
  const child = spawn(executablePath, all, { stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'], detached: hasGroups })
  const complaint = captureStderr(child)
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`))
  })
  const remove = (): void => {
    if (profile === undefined) removeProfile(folder)
  }
  // If this process exits, the browser and its profile must not stay behind.
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
    // An exiting browser breaks the pipe first; its exit reason is more useful.
    const how = await Promise.race([ended, after(closeTimeoutMs, undefined, { ref: false })])
    await close()
    const why = how === undefined ? 'it does not answer' : `it ended with ${how}`
    throw new ChromiumFailed(`The browser at ${executablePath} could not be started: ${why}${complaint()}`, { cause: error })
  }
  return { wire, isOurs: true, isHeadless: headless, close, [Symbol.asyncDispose]: close }
}

/** Kills a browser and its helper processes. */
function kill(child: ChildProcess): void {
  try {
    if (hasGroups && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  } catch {
    // Already gone.
  }
  child.kill('SIGKILL')
}

/** Removes a profile; retries, because an exiting helper process may still write to it. */
function removeProfile(folder: string): void {
  for (let attempt = 0; attempt < removals; attempt += 1) {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, removalMs)
    if (!existsSync(folder)) return
  }
}

/** Keeps the last stderr output of a browser and formats it with advice. */
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
    return last.trim() === '' ? '.' : `. Last output:\n${last.trim()}${advice}`
  }
}

/** Closes the browser, and kills it after a timeout. */
async function end(child: ChildProcess, wire: Wire, ended: Promise<string>): Promise<void> {
  if (child.pid === undefined) return
  wire.send('Browser.close', undefined).catch(() => undefined)
  const timer = setTimeout(() => kill(child), endMs)
  await ended
  clearTimeout(timer)
  wire.close()
}

export interface AttachOptions {
  /** Accept a browser on another machine. */
  readonly allowRemote?: boolean
  readonly timeoutMs?: number
}

const attachMs = 10_000

/** Attaches to a browser started with `--remote-debugging-port`; throws a `ChromiumFailed`. Never ends it. */
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
      `No browser could be reached at ${address}: ${why}. Start one with --remote-debugging-port=9222 --user-data-dir=<separate folder>, and attach to http://127.0.0.1:9222.`,
      { cause: error },
    )
  }
}

function addressOf(address: string, allowRemote: boolean): URL {
  const text = /^[a-z]+:\/\//i.test(address) ? address : `http://${address}`
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^(?:http|https|ws|wss):$/.test(url.protocol)) {
    throw new ChromiumFailed(
      `"${address}" is not a valid browser URL. Use one such as http://127.0.0.1:9222 or ws://127.0.0.1:9222/devtools/browser/….`,
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

/** Reads the WebSocket URL of a browser. */
async function endpointOf(url: URL, timeoutMs: number): Promise<URL> {
  const asked = new URL('/json/version', url)
  asked.protocol = /^(?:https|wss):$/.test(url.protocol) ? 'https:' : 'http:'
  const response = await fetch(asked, { signal: AbortSignal.timeout(timeoutMs), redirect: 'error' })
  const answer: unknown = response.ok ? await response.json().catch(() => undefined) : undefined
  const debuggerUrl =
    typeof answer === 'object' && answer !== null && 'webSocketDebuggerUrl' in answer ? answer.webSocketDebuggerUrl : undefined
  if (typeof debuggerUrl !== 'string' || !URL.canParse(debuggerUrl))
    throw new Error('the address belongs to a server that is not a browser')
  return new URL(debuggerUrl)
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  if (cause instanceof Error) return 'code' in cause && cause.code === 'ECONNREFUSED' ? 'nothing answers there' : cause.message
  return error.message
}
