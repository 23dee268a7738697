import { homedir } from 'node:os'
import { join } from 'node:path'

export interface Settings {
  /** Data folder of the hub. */
  readonly folder: string
  /** True if network tools may reach private networks; loopback is always allowed. */
  readonly allowPrivate: boolean
  /** Timeout for a complete response. */
  readonly timeoutMs: number
}

/** Reads the settings from environment variables. */
export function settingsFrom(env: { readonly [name: string]: string | undefined }): Settings {
  // An empty variable counts as not set.
  const home = env.UNFOLD_HOME || join(env.XDG_DATA_HOME || join(homedir(), '.local', 'share'), 'unfold')
  return {
    folder: env.AUTOMATION_HUB_FOLDER || join(home, 'automation-hub'),
    allowPrivate: env.AUTOMATION_HUB_ALLOW_PRIVATE === '1',
    timeoutMs: 20_000,
  }
}
