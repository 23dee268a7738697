import { execFile } from 'node:child_process'
import type { Io } from '../base/io.ts'

const versionTimeoutMs = 5_000

/** Version printed by `<program> --version`, such as `2.1.325`; undefined if unknown. */
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

const versionIn = (text: string): string | undefined => /\d+\.\d+\.\d+/u.exec(text)?.[0]

export function isAtLeast(version: string, least: string): boolean {
  const wanted = least.split('.').map(Number)
  for (const [at, part] of version.split('.').map(Number).entries()) {
    const other = wanted[at] ?? 0
    if (part !== other) return part > other
  }
  return true
}
