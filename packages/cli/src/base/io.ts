import { posix, win32 } from 'node:path'
import type { Readable, Writable } from 'node:stream'

/** Where a command reads and writes, and what it knows of its system. */
export interface Io {
  readonly stdin: Readable & { readonly isTTY?: boolean }
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number }
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number }
  readonly env: { readonly [name: string]: string | undefined }
  readonly cwd: string
  readonly home: string
  readonly platform: NodeJS.Platform
  /** Aborted when the person interrupts. */
  readonly signal: AbortSignal
  /** What happens when the person interrupts again: the end of the process, unless a command has a better one. */
  readonly forceExit: { end: () => void }
}

/** Whether a person is there to answer. */
export const isInteractive = ({ stdin, stderr }: Io): boolean => stdin.isTTY === true && stderr.isTTY === true

/** Where this program keeps its own files: $UNFOLD_HOME, else where the platform has programs keep theirs. */
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

// A relative path would lead elsewhere from every folder.
function absolute(path: string | undefined, platform: NodeJS.Platform): string | undefined {
  return path !== undefined && (platform === 'win32' ? win32 : posix).isAbsolute(path) ? path : undefined
}
