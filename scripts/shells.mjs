// Finds the shells for the completion tests.
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const packages = { bash: 'bash', zsh: 'zsh', fish: 'fish', script: 'bsdutils' }

/** Requirements of the completion tests; none on Windows, where these tests do not run. */
export const shells = process.platform === 'win32' ? [] : Object.entries(packages).map(requirement)

function requirement([name, debianPackage]) {
  const reason = name === 'script' ? 'the completion tests run shells in a terminal' : `the completion tests run ${name}`
  return { name, package: debianPackage, reason, isPresent: () => hasProgram(name) }
}

/** Returns whether a program is in a folder of PATH. */
export function hasProgram(name) {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, name)))
}
