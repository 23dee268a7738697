import { spawn } from 'node:child_process'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { CommandError, exit, usageError } from '../base/exit.ts'
import type { Io } from '../base/io.ts'
import { cloneNote, ownPackages } from '../base/packages.ts'
import { scaffold } from '../generate/scaffold.ts'
import { type Invocation, isSet, optionalPositional, textOf } from '../grammar/grammar.ts'
import { Output } from '../output/output.ts'

export async function run(invocation: Invocation, io: Io): Promise<number> {
  const { flags } = invocation
  const output = new Output(io, flags)
  const given = optionalPositional(invocation) ?? '.'
  const folder = resolve(io.cwd, given)
  const name =
    textOf(flags, 'name') ??
    (basename(folder)
      .toLowerCase()
      .replaceAll(/[^a-z0-9-]+/gu, '-')
      .replaceAll(/^-+|-+$/gu, '') ||
      'toolbox')
  if (!/^[a-z0-9][a-z0-9-]{0,60}$/u.test(name))
    throw usageError(`Invalid server name "${name}". Use lowercase letters, digits and dashes.`)
  await requireEmpty(folder)
  const packages = ownPackages()
  const files = scaffold(name, packages)
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text, { flag: 'wx' })
  }
  const isInstalled = !isSet(flags, 'no-install') && (await installed(folder, io))
  const enter = given === '.' ? [] : [`cd ${given}`]
  const steps = [...enter, ...(isInstalled ? [] : ['npm install']), `unfold list ${name}`]
  output.result(`Created ${name} in ${folder}${cloneNote(packages)}\nNext:\n${steps.map((step) => `  ${step}`).join('\n')}`, {
    name,
    folder,
    files: Object.keys(files),
    installed: isInstalled,
    ...(packages.clone !== undefined && { clone: packages.clone }),
    next: steps,
  })
  return exit.ok
}

// Files of a new repository.
const allowedFiles = new Set(['.git', '.DS_Store', 'LICENSE'])

async function requireEmpty(folder: string): Promise<void> {
  const found = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw new CommandError(exit.failed, 'no_folder', `Cannot use ${folder}: ${error.message}`, { cause: error })
  })
  const existing = found.filter((file) => !allowedFiles.has(file))
  if (existing.length > 0)
    throw new CommandError(exit.usage, 'not_empty', `${folder} is not empty. Choose another folder: unfold init <folder>`, {
      details: { found: existing.slice(0, 10) },
    })
}

/** npm output goes to stderr. */
async function installed(folder: string, io: Io): Promise<boolean> {
  const npm = io.platform === 'win32' ? 'npm.cmd' : 'npm'
  const child = spawn(npm, ['install', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: folder,
    stdio: ['ignore', 2, 2],
    shell: io.platform === 'win32',
    signal: io.signal,
  })
  const code = await new Promise<number | null>((done, fail) => {
    child.once('error', fail)
    child.once('close', done)
  })
  if (code !== 0) throw new CommandError(exit.failed, 'install_failed', `npm install failed in ${folder}; see its output above.`)
  return true
}
