import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { System } from '../src/config/index.ts'

/** A home folder and a project next to it, on disk, until disposed of. */
export interface Machine extends AsyncDisposable {
  readonly home: string
  readonly project: string
  readonly system: System
  /** Writes a file into the home folder (`~/…`) or into the project; values other than text become JSON. */
  write(path: string, content: unknown): Promise<string>
}

export async function machine(env: System['env'] = {}): Promise<Machine> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'unfold-machine-')))
  const home = join(base, 'home')
  const project = join(base, 'project')
  await Promise.all([mkdir(home), mkdir(project)])
  return {
    home,
    project,
    system: { platform: 'linux', home, cwd: project, env },
    async write(path, content) {
      const file = path.startsWith('~/') ? join(home, path.slice(2)) : join(project, path)
      await mkdir(dirname(file), { recursive: true })
      const isText = typeof content === 'string' || content instanceof Uint8Array
      await writeFile(file, isText ? content : JSON.stringify(content))
      return file
    },
    [Symbol.asyncDispose]: () => rm(base, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }),
  }
}
