// No file of the repository speaks of the machine it was written on.
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
    console.error(`${file}:${index + 1}: says "${found[0]}"`)
    process.exitCode = 1
  }
}

/** A file's text; nothing of a binary file, or of one deleted but not yet committed. */
function textOf(file) {
  try {
    const bytes = readFileSync(join(root, file))
    return bytes.includes(0) ? '' : bytes.toString()
  } catch {
    return ''
  }
}
