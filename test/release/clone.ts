import { existsSync } from 'node:fs'
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Ended, run } from '../../packages/cli/test/command.ts'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** A copy of the files that a release reads and writes: manifests, scripts, changelog and packed files. */
export interface Clone extends AsyncDisposable {
  readonly folder: string
  /** Runs a script of the copy. */
  script(name: string, env?: NodeJS.ProcessEnv): Promise<Ended>
  read(file: string): Promise<string>
  write(file: string, text: string): Promise<void>
  remove(file: string): Promise<void>
}

const ofRoot = ['package.json', 'package-lock.json', 'CHANGELOG.md', 'scripts', '.changeset/config.json', '.changeset/README.md']
const ofWorkspace = ['package.json']
const ofPackage = [...ofWorkspace, 'README.md', 'LICENSE', 'unfold.schema.json', 'bundle', 'src']

/**
 * Copies the repository, without changesets. `command` leaves out `dist`, several thousand files that take seconds to copy and to
 * pack, but not the bundled command.
 */
export async function cloneRepository(files: 'all' | 'command'): Promise<Clone> {
  const folder = await mkdtemp(join(tmpdir(), 'unfold-release-'))
  const packages = (await readdir(join(root, 'packages'))).flatMap((name) =>
    [...ofPackage, ...(files === 'all' ? ['dist'] : [])].map((file) => `packages/${name}/${file}`),
  )
  const { workspaces } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    readonly workspaces: readonly string[]
  }
  // All of them: if a manifest is missing, the scripts of the copy install dependencies, into the linked folder of this repository.
  const others = workspaces
    .filter((name) => name !== 'packages/*')
    .flatMap((name) => ofWorkspace.map((file) => `${name}/${file}`))
  for (const path of [...ofRoot, ...packages, ...others])
    if (existsSync(join(root, path))) await cp(join(root, path), join(folder, path), { recursive: true })
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  return {
    folder,
    script: (name, env) =>
      run(process.execPath, [join(folder, 'scripts', name)], { cwd: folder, env: { ...process.env, ...env } }),
    read: (file) => readFile(join(folder, file), 'utf8'),
    write: (file, text) => writeFile(join(folder, file), text),
    remove: (file) => rm(join(folder, file), { recursive: true }),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }),
  }
}
