// The shells whose completions are tested.
import { hasProgram, installPackages } from './debian.mjs'

const packages = { bash: 'bash', zsh: 'zsh', fish: 'fish', script: 'bsdutils' }
const missing = () => Object.keys(packages).filter((name) => !hasProgram(name))

/** The shells are there when they can be; instant when they are already. Says so in one line when not, and never fails. */
export async function ensureShells() {
  if (process.platform === 'win32' || missing().length === 0) return
  await installPackages(
    missing().map((name) => packages[name]),
    'the tests of completions',
  ).catch(() => undefined)
  if (missing().length > 0) console.error(`Not found: ${missing().join(', ')}. The tests of completions there will be skipped.`)
}
