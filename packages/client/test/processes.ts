import { readFileSync } from 'node:fs'
import { serverFile } from '../../../test/bundled-servers.ts'
import type { CommandTarget } from '../src/config/target.ts'

/** Target for a server in this folder. */
export const server = (file: string, ...args: readonly string[]): CommandTarget => ({
  command: process.execPath,
  args: [serverFile(new URL(`servers/${file}`, import.meta.url)), ...args],
})

/** True for a running process; false for a zombie. */
export function isAlive(pid: number | undefined): boolean {
  if (pid === undefined) return false
  try {
    process.kill(pid, 0)
    return process.platform !== 'linux' || !/\) Z /u.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

/** Waits until a condition holds; the timeout message names it. */
export async function until(holds: () => boolean | Promise<boolean>, what: string, timeoutMs = 120_000): Promise<void> {
  const end = Date.now() + timeoutMs
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`Waited in vain: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
