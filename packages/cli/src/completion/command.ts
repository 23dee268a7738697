import { writeFileSync } from 'node:fs'
import { dataFolder } from '../base/io.ts'
import { completionCache, completionFolders } from './cache.ts'
import { completionResponse } from './response.ts'

/** Answers a shell's script on standard output; gives the exit code. */
export async function completeCommand(question: readonly string[]): Promise<number> {
  const { env } = process
  const home = env.HOME ?? (await import('../base/home.ts')).homeFolder(env)
  const known = completionCache(completionFolders(dataFolder({ env, home })), { defaultServer: env.UNFOLD_SERVER })
  const cache = {
    ...known,
    // Loaded where it is asked for, since a person waits for every key.
    upstreams: async () =>
      (await import('./upstreams.ts')).upstreamNames({ env, home, cwd: process.cwd(), platform: process.platform }),
  }
  // The stream of standard output takes as long to set up as all the rest.
  writeFileSync(1, await completionResponse(question, cache))
  return 0
}
