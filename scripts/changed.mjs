// Files that differ from the main branch.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './processes.mjs'
import { root } from './workspaces.mjs'

/** Returns the paths of files added or changed since this branch left `main`, committed or not. */
export async function changedFiles() {
  const base = (await lines(['merge-base', 'HEAD', 'main']).catch(() => []))[0] ?? 'HEAD'
  const changed = await lines(['diff', '--name-only', '-z', base])
  const untracked = await lines(['ls-files', '--others', '--exclude-standard', '-z'])
  return [...new Set([...changed, ...untracked])].filter((file) => existsSync(join(root, file)))
}

async function lines(args) {
  const { code, output } = await run('git', args)
  if (code !== 0) throw new Error(output)
  return output.split(/[\0\n]/).filter((line) => line !== '')
}
