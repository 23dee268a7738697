// A browser for the browser tests: installed where Debian's packages are reachable and we may, asked for elsewhere.
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { run } from './processes.mjs'

const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'microsoft-edge-stable', 'microsoft-edge']
const toStderr = ['ignore', 2, 2]
const how = {
  linux: 'sudo apt-get install chromium (or the package of your system)',
  darwin: 'brew install --cask chromium',
  win32: 'winget install Google.Chrome',
}

/** A Chromium is there when it can be; instant when it is already. Says so in one line when it is not, and never fails. */
export async function ensureChromium() {
  if (hasChromium()) return
  const asked = process.env.UNFOLD_BROWSER_PATH
  if (!asked && process.platform === 'linux' && isDebian()) await install().catch(() => undefined)
  if (hasChromium()) return
  const reason = asked ? `There is no browser at ${asked}` : 'No Chromium was found'
  const advice = how[process.platform] ?? 'the package manager of this system'
  console.error(`${reason}: the browser tests will be skipped. Install one with ${advice}, or set UNFOLD_BROWSER_PATH.`)
}

function hasChromium() {
  const { env, platform } = process
  if (env.UNFOLD_BROWSER_PATH) return existsSync(env.UNFOLD_BROWSER_PATH)
  return placesOn(platform, env).some((place) => existsSync(place))
}

/** The usual places, as the package itself looks for them; it cannot be asked, because it may not be built yet. */
function placesOn(platform, env) {
  if (platform === 'darwin') {
    return ['Chromium', 'Google Chrome', 'Microsoft Edge'].map((app) => `/Applications/${app}.app/Contents/MacOS/${app}`)
  }
  if (platform === 'win32') {
    const roots = [env.ProgramFiles, env['ProgramFiles(x86)'], env.LOCALAPPDATA].filter(Boolean)
    return [
      'Chromium\\Application\\chrome.exe',
      'Google\\Chrome\\Application\\chrome.exe',
      'Microsoft\\Edge\\Application\\msedge.exe',
    ].flatMap((program) => roots.map((root) => `${root}\\${program}`))
  }
  const folders = [...(env.PATH ?? '').split(delimiter), '/usr/bin', '/usr/local/bin', '/snap/bin']
  return names.flatMap((name) => folders.map((folder) => join(folder, name)))
}

function isDebian() {
  try {
    return (
      /^(?:ID|ID_LIKE)=.*\b(?:debian|ubuntu)\b/m.test(readFileSync('/etc/os-release', 'utf8')) && existsSync('/usr/bin/apt-get')
    )
  } catch {
    return false
  }
}

async function install() {
  const isRoot = process.getuid() === 0
  // Never asks for a password: a test run must not wait for one.
  if (!isRoot && (await run('sudo', ['-n', 'true'])).code !== 0) return
  console.error('Installing Chromium for the browser tests; this takes about a minute …')
  const apt = (...args) =>
    isRoot ? run('apt-get', args, quietly) : run('sudo', ['-n', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', ...args], quietly)
  // Old lists name packages that are gone; a mirror that is away for a moment is no reason to try nothing.
  await apt('update', '-qq', '-o', 'Acquire::http::Timeout=15', '-o', 'Acquire::Retries=1')
  await apt('install', '-y', '-qq', '--no-install-recommends', '-o', 'Acquire::http::Timeout=30', 'chromium')
}

const quietly = { stdio: toStderr, env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } }

if (import.meta.url === pathToFileURL(process.argv[1]).href) await ensureChromium()
