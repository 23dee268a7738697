import { spawn } from 'node:child_process'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { CommandError, exit, usageError } from '../base/exit.ts'
import type { Io } from '../base/io.ts'
import { cloneNote, ownPackages } from '../base/packages.ts'
import { scaffold } from '../generate/scaffold.ts'
import { type Invocation, isSet, textOf } from '../grammar/grammar.ts'
import { Output } from '../output/output.ts'

export async function run({ positionals, flags }: Invocation, io: Io): Promise<number> {
  const output = new Output(io, flags)
  const [given = '.', ...others] = positionals
  if (others.length > 0) throw usageError('One folder, please: unfold init [<folder>]')
  const folder = resolve(io.cwd, given)
  const name =
    textOf(flags, 'name') ??
    (basename(folder)
      .toLowerCase()
      .replaceAll(/[^a-z0-9-]+/gu, '-')
      .replaceAll(/^-+|-+$/gu, '') ||
      'toolbox')
  if (!/^[a-z0-9][a-z0-9-]{0,60}$/u.test(name))
    throw usageError(`"${name}" cannot be the name of a server: small letters, digits and dashes, please.`)
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
  output.answer(`${name} is in ${folder}.${cloneNote(packages)}\nNext:\n${steps.map((step) => `  ${step}`).join('\n')}`, {
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
const beginnings = new Set(['.git', '.DS_Store', 'LICENSE'])

async function requireEmpty(folder: string): Promise<void> {
  const found = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw new CommandError(exit.failed, 'no_folder', `${folder} cannot be used: ${error.message}`, { cause: error })
  })
  const taken = found.filter((file) => !beginnings.has(file))
  if (taken.length > 0)
    throw new CommandError(exit.usage, 'not_empty', `${folder} is not empty. Name another folder: unfold init <folder>`, {
      details: { found: taken.slice(0, 10) },
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
  if (code !== 0)
    throw new CommandError(
      exit.failed,
      'install_failed',
      `npm install failed in ${folder}; what it said is above. Run it again there.`,
    )
  return true
}
