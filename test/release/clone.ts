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
const ofPackage = [...ofWorkspace, 'README.md', 'LICENSE', 'unfold.schema.json', 'dist', 'bundle', 'src']

/** Copies the repository, without changesets. */
export async function cloneRepository(): Promise<Clone> {
  const folder = await mkdtemp(join(tmpdir(), 'unfold-release-'))
  const packages = (await readdir(join(root, 'packages'))).flatMap((name) => ofPackage.map((file) => `packages/${name}/${file}`))
  const workspaces = ['examples', 'bench', 'test', 'docs'].flatMap((name) => ofWorkspace.map((file) => `${name}/${file}`))
  for (const path of [...ofRoot, ...packages, ...workspaces])
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
