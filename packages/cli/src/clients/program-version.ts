import { execFile } from 'node:child_process'
import type { Io } from '../base/io.ts'

// A busy machine takes its time to start a large program; nobody waits longer for a detail.
const versionTimeoutMs = 5_000

/** The version that a program on the path prints for `--version`, such as `2.1.325`; nothing when it cannot be found out. */
export function programVersion(program: string, { env, signal }: Pick<Io, 'env' | 'signal'>): Promise<string | undefined> {
  const options = {
    env: { ...env },
    signal,
    timeout: versionTimeoutMs,
    killSignal: 'SIGKILL',
    maxBuffer: 10_000,
    windowsHide: true,
  } as const
  return new Promise((resolve) => {
    execFile(program, ['--version'], options, (error, stdout) =>
      resolve(error === null ? versionIn(stdout) : undefined),
    ).stdin?.end()
  })
}

/** The first version in a text. */
const versionIn = (text: string): string | undefined => /\d+\.\d+\.\d+/u.exec(text)?.[0]

/** Whether a version is this one or a later one. */
export function isAtLeast(version: string, least: string): boolean {
  const wanted = least.split('.').map(Number)
  for (const [at, part] of version.split('.').map(Number).entries()) {
    const other = wanted[at] ?? 0
    if (part !== other) return part > other
  }
  return true
}
