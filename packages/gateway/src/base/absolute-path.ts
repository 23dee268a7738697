import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

/** Returns a path of the configuration as an absolute path: relative to the folder of the file, `~` for the home folder. */
export const absolutePath = (folder: string, path: string): string =>
  /^~(?:\/|$)/u.test(path) ? join(homedir(), path.slice(1)) : resolve(folder, path)
