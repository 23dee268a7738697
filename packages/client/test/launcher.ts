import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { CommandTarget } from '../src/config/target.ts'
import { until } from './processes.ts'

const script = fileURLToPath(new URL('servers/launcher.mjs', import.meta.url))

/** Fake `npx` whose installations the test controls; see servers/launcher.mjs. */
export interface FakeLauncher extends AsyncDisposable {
  /** npm cache folder. */
  readonly cache: string
  /** Target started through the launcher. */
  target(name: string, env?: Readonly<Record<string, string>>): Required<Pick<CommandTarget, 'command' | 'args' | 'env'>>
  /** Lets an installation finish. */
  finish(...names: readonly string[]): Promise<void>
  /** Events in order. */
  events(): Promise<readonly { readonly what: string; readonly name: string; readonly pid: number }[]>
  /** Packages being installed, or being installed when killed. */
  halfInstalled(): Promise<readonly string[]>
}

export async function fakeLauncher(): Promise<FakeLauncher> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'unfold-launcher-')))
  const command = join(folder, 'npx')
  const state = join(folder, 'state')
  const cache = join(folder, 'cache')
  await mkdir(state)
  await writeFile(command, `#!/bin/sh\nexec "${process.execPath}" "${script}" "$@"\n`)
  await chmod(command, 0o755)
  return {
    cache,
    target: (name, env = {}) => ({
      command,
      args: ['-y', name],
      env: { LAUNCHER_STATE: state, npm_config_cache: cache, ...env },
    }),
    finish: async (...names) => {
      for (const name of names) await writeFile(join(state, `${name}.go`), '')
    },
    async events() {
      const text = await readFile(join(state, 'events'), 'utf8').catch(() => '')
      return text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => {
          const [what = '', name = '', pid = ''] = line.split(' ')
          return { what, name, pid: Number(pid) }
        })
    },
    halfInstalled: async () =>
      (await readdir(state)).filter((name) => name.endsWith('.part')).map((name) => name.replace(/\.part$/u, '')),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }),
  }
}

/** Waits until `count` packages are being installed. */
export const installing = (npx: FakeLauncher, count: number): Promise<void> =>
  until(async () => (await npx.halfInstalled()).length === count, `${count} are being installed`)
