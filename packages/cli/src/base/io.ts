import { posix, win32 } from 'node:path'
import type { Readable, Writable } from 'node:stream'

/** Streams and environment of a command. */
export interface Io {
  readonly stdin: Readable & { readonly isTTY?: boolean }
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number }
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number }
  readonly env: { readonly [name: string]: string | undefined }
  readonly cwd: string
  readonly home: string
  readonly platform: NodeJS.Platform
  /** Aborted on the first interrupt. */
  readonly signal: AbortSignal
  /** Runs on the second interrupt: exits the process unless a command replaces it. */
  readonly forceExit: { run: () => void }
}

/** Whether a person can answer prompts. */
export const isInteractive = ({ stdin, stderr }: Io): boolean => stdin.isTTY === true && stderr.isTTY === true

/** Data folder: $UNFOLD_HOME, otherwise the conventional place of the platform. */
export function dataFolder({
  env,
  home,
  platform = process.platform,
}: Pick<Io, 'env' | 'home'> & { readonly platform?: Io['platform'] }): string {
  const own = absolute(env.UNFOLD_HOME, platform)
  if (own !== undefined) return own
  if (platform === 'win32')
    return win32.join(absolute(env.LOCALAPPDATA, platform) ?? win32.join(home, 'AppData', 'Local'), 'unfold')
  return posix.join(absolute(env.XDG_DATA_HOME, platform) ?? posix.join(home, '.local', 'share'), 'unfold')
}

// A relative path would mean a different folder in every working directory.
function absolute(path: string | undefined, platform: NodeJS.Platform): string | undefined {
  return path !== undefined && (platform === 'win32' ? win32 : posix).isAbsolute(path) ? path : undefined
}
