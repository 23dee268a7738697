// A browser for the browser tests: installed where Debian's packages are reachable and we may, asked for elsewhere.
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { installPackages } from './debian.mjs'

const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'microsoft-edge-stable', 'microsoft-edge']
const how = {
  linux: 'sudo apt-get install chromium (or the package of your system)',
  darwin: 'brew install --cask chromium',
  win32: 'winget install Google.Chrome',
}

/** A Chromium is there when it can be; instant when it is already. Says so in one line when it is not, and never fails. */
export async function ensureChromium() {
  if (hasChromium()) return
  const asked = process.env.UNFOLD_BROWSER_PATH
  if (!asked) await installPackages(['chromium'], 'the browser tests').catch(() => undefined)
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

if (import.meta.url === pathToFileURL(process.argv[1]).href) await ensureChromium()
