// Checks that no file contains paths of a development machine.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './processes.mjs'
import { root } from './workspaces.mjs'

// Written so that this file does not match itself.
const machine = /\/(?:wor[k]|roo[t])\/|subagen[t]/i

const { code, output } = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'])
if (code !== 0) throw new Error(output)
for (const file of new Set(output.split('\0').filter((name) => name !== ''))) {
  for (const [index, line] of textOf(file).split('\n').entries()) {
    const found = machine.exec(line)
    if (found === null) continue
    console.error(`${file}:${index + 1}: contains "${found[0]}"`)
    process.exitCode = 1
  }
}

/** Returns a file's text; empty for a binary file, or for one deleted but not yet committed. */
function textOf(file) {
  try {
    const bytes = readFileSync(join(root, file))
    return bytes.includes(0) ? '' : bytes.toString()
  } catch {
    return ''
  }
}
