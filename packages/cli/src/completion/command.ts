import { writeFileSync } from 'node:fs'
import { dataFolder } from '../base/io.ts'
import { completionCache, completionFolders } from './cache.ts'
import { completionResponse } from './response.ts'

/** Writes completions for a shell script; returns the exit code. */
export async function completeCommand(question: readonly string[]): Promise<number> {
  const { env } = process
  const home = env.HOME ?? (await import('../base/home.ts')).homeFolder(env)
  const known = completionCache(completionFolders(dataFolder({ env, home })), { defaultServer: env.UNFOLD_SERVER })
  const cache = {
    ...known,
    // Loaded on demand: every key press waits for this.
    upstreams: async () =>
      (await import('./upstreams.ts')).upstreamNames({ env, home, cwd: process.cwd(), platform: process.platform }),
  }
  // Opening process.stdout takes as long as everything else.
  writeFileSync(1, await completionResponse(question, cache))
  return 0
}
