import { homedir } from 'node:os'
import { isAbsolute } from 'node:path'
import { CommandError, exit } from './exit.ts'

/** Home folder of this user. A user without an entry in the user database needs HOME or UNFOLD_HOME. */
export function homeFolder(env: { readonly [name: string]: string | undefined }): string {
  try {
    return homedir()
  } catch (cause) {
    const own = env.UNFOLD_HOME
    if (own !== undefined && isAbsolute(own)) return own
    const who = process.getuid?.() ?? '(unknown)'
    const message = `No home folder found for user ${who}. Set HOME or UNFOLD_HOME to a writable folder.`
    throw new CommandError(exit.usage, 'no_home', message, { cause })
  }
}
