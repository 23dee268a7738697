import { homedir } from 'node:os'
import { isAbsolute } from 'node:path'
import { CommandError, exit } from './exit.ts'

/** The home folder of this user. A user that the system knows nothing of has none, and says where its files are to be. */
export function homeFolder(env: { readonly [name: string]: string | undefined }): string {
  try {
    return homedir()
  } catch (cause) {
    const own = env.UNFOLD_HOME
    if (own !== undefined && isAbsolute(own)) return own
    const who = process.getuid?.() ?? ''
    const message = `The system knows no home folder for this user (${who}). Set HOME or UNFOLD_HOME to a folder that it may write to.`
    throw new CommandError(exit.usage, 'no_home', message, { cause })
  }
}
