import { readdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type Config, scriptSettings } from '../schema.ts'

/** True for files that may be stored scripts; declarations, recorded calls and hidden files are not. */
export const isScriptFile = (name: string): boolean => /\.(?:ts|js)$/u.test(name) && !/\.d\.ts$|\.test\.[jt]s$|^[._]/u.test(name)

/** True if the folder of stored scripts of a configuration file has any. */
export function hasScripts(config: Pick<Config, 'scripts' | 'code'>, file: string): boolean {
  const settings = scriptSettings(config)
  if (settings === undefined) return false
  try {
    return readdirSync(resolve(dirname(file), settings.folder)).some(isScriptFile)
  } catch {
    // There is no such folder.
    return false
  }
}
