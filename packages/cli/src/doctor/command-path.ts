import { access, constants, stat } from 'node:fs/promises'
import type { Io } from '../base/io.ts'
import { pathModule } from '../config/system.ts'

/** Path of the executable that a process would start; undefined if not found. */
export async function commandPath(
  command: string,
  { env, cwd, platform }: Pick<Io, 'env' | 'cwd' | 'platform'>,
): Promise<string | undefined> {
  const paths = pathModule(platform)
  const isWindows = platform === 'win32'
  const isPath = command.includes('/') || (isWindows && command.includes('\\'))
  const folders = isPath ? [cwd] : (env.PATH ?? env.Path ?? '').split(paths.delimiter).filter((folder) => folder !== '')
  const endings = isWindows ? ['', ...(env.PATHEXT ?? '.EXE;.CMD;.BAT;.COM').split(';')] : ['']
  for (const folder of folders) {
    for (const ending of endings) {
      const file = paths.resolve(cwd, folder, command + ending)
      if (await isRunnable(file, isWindows)) return file
    }
  }
  return undefined
}

async function isRunnable(file: string, isWindows: boolean): Promise<boolean> {
  try {
    await access(file, isWindows ? constants.F_OK : constants.X_OK)
    return (await stat(file)).isFile()
  } catch {
    return false
  }
}
