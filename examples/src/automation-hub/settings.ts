import { homedir } from 'node:os'
import { join } from 'node:path'

export interface Settings {
  /** Everything the hub keeps is in here. */
  readonly folder: string
  /** Whether network tools may reach addresses of private networks; loopback they always may. */
  readonly allowPrivate: boolean
  /** How long a web server may take to answer, whole. */
  readonly timeoutMs: number
}

/** The settings that environment variables ask for. */
export function settingsFrom(env: { readonly [name: string]: string | undefined }): Settings {
  // A variable that is set to nothing counts as not set.
  const home = env.UNFOLD_HOME || join(env.XDG_DATA_HOME || join(homedir(), '.local', 'share'), 'unfold')
  return {
    folder: env.AUTOMATION_HUB_FOLDER || join(home, 'automation-hub'),
    allowPrivate: env.AUTOMATION_HUB_ALLOW_PRIVATE === '1',
    timeoutMs: 20_000,
  }
}
