import { execFileSync } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'

/** Pids of the processes whose environment contains a text, or whose command line does; Linux only. */
export async function processesWith(text: string): Promise<readonly number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/u.test(name))
  const contents = await Promise.all(
    pids.map(async (pid) => {
      const read = (file: string): Promise<string> => readFile(`/proc/${pid}/${file}`, 'latin1').catch(() => '')
      return `${await read('environ')}\0${await read('cmdline')}`
    }),
  )
  return pids.filter((_, index) => contents[index]?.includes(text) === true).map(Number)
}

/** True if bubblewrap can create a PID namespace on this machine. */
export function hasNamespaces(): boolean {
  try {
    execFileSync('bwrap', ['--unshare-pid', '--dev-bind', '/', '/', '--proc', '/proc', 'true'], { stdio: 'ignore' })
    return true
  } catch {
    console.warn('Skipped: tests that need bubblewrap, which is not installed or not allowed here.')
    return false
  }
}
