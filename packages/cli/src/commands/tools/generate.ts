import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { CommandError, exit } from '../../base/exit.ts'
import type { Io } from '../../base/io.ts'
import { cloneNote, ownPackages } from '../../base/packages.ts'
import { generatedFiles } from '../../generate/files.ts'
import { type Invocation, isSet, textOf } from '../../grammar/grammar.ts'
import { Output } from '../../output/output.ts'
import { openServer } from '../../servers/servers.ts'
import { plural } from '../../text/number.ts'

export async function run(invocation: Invocation, io: Io): Promise<number> {
  const { flags, command } = invocation
  const output = new Output(io, flags)
  const { connection, label, target } = await openServer(invocation, io, output)
  await using _ = connection
  const name = nameFor(command === undefined ? label : connection.server.name)
  const folder = resolve(io.cwd, textOf(flags, 'output') ?? `${name}-cli`)
  if (!isSet(flags, 'force')) await requireEmpty(folder)
  const tools = await connection.tools()
  const packages = ownPackages()
  const { files, variables } = generatedFiles(name, target, tools, packages)
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text, { mode: path === 'bin.mjs' ? 0o755 : 0o644 })
  }
  const needs = variables.length === 0 ? '' : `\nSecrets are read from the environment. Set ${variables.join(', ')}.`
  output.result(
    `Generated ${plural(tools.length, 'tool')} in ${folder}${cloneNote(packages)}\nNext:\n  cd ${folder}\n  npm install\n  node bin.mjs --help${needs}`,
    {
      name,
      folder,
      files: Object.keys(files),
      tools: tools.length,
      variables,
      ...(packages.clone !== undefined && { clone: packages.clone }),
    },
  )
  return exit.ok
}

function nameFor(label: string): string {
  const last = /^https?:/iu.test(label) ? new URL(label).hostname : basename(label)
  const name = last
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/gu, '-')
    .slice(0, 60)
    .replaceAll(/^-+|-+$/gu, '')
  return name === '' ? 'server' : name
}

async function requireEmpty(folder: string): Promise<void> {
  const found = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw new CommandError(exit.failed, 'no_folder', `Cannot use ${folder}: ${error.message}`, { cause: error })
  })
  if (found.length > 0)
    throw new CommandError(
      exit.usage,
      'not_empty',
      `${folder} is not empty. Choose another folder with --output, or overwrite with --force.`,
    )
}
