// Finds the browser for the browser tests.
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'microsoft-edge-stable', 'microsoft-edge']
const installCommands = {
  linux: 'sudo apt-get install chromium (or the equivalent of your distribution)',
  darwin: 'brew install --cask chromium',
  win32: 'winget install Google.Chrome',
}

/** Requirement of the browser tests. If UNFOLD_BROWSER_PATH is set, no other browser is installed. */
export const chromium = {
  name: 'Chromium',
  package: process.env.UNFOLD_BROWSER_PATH ? undefined : 'chromium',
  reason: 'the browser tests run in a real browser',
  advice: `Install it with ${installCommands[process.platform] ?? 'your package manager'}, or set UNFOLD_BROWSER_PATH.`,
  isPresent: hasChromium,
}

function hasChromium() {
  const { env, platform } = process
  if (env.UNFOLD_BROWSER_PATH) return existsSync(env.UNFOLD_BROWSER_PATH)
  return candidatePaths(platform, env).some((path) => existsSync(path))
}

/** Returns the paths that packages/browser searches. Repeated here because that package may not be built yet. */
function candidatePaths(platform, env) {
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
