import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { CommandTarget } from '../config/target.ts'

// The whole file system with its devices, and a /proc that shows only the processes of the namespace.
const flags = ['--unshare-pid', '--die-with-parent', '--dev-bind', '/', '/', '--proc', '/proc']

let probed: Promise<string | undefined> | undefined

/** Path of bubblewrap, if it can create a PID namespace here; checked once. Many containers do not allow it. */
export function usableBubblewrap(): Promise<string | undefined> {
  probed ??= probe()
  return probed
}

/** Path of bubblewrap, if it is installed. */
export const findBubblewrap = (): string | undefined =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'bwrap'))
    .find((file) => existsSync(file))

async function probe(): Promise<string | undefined> {
  if (process.platform !== 'linux') return undefined
  const path = findBubblewrap()
  if (path === undefined) return undefined
  return new Promise((resolve) => {
    execFile(path, [...flags, '--', 'true'], { timeout: 20_000 }, (error) => resolve(error === null ? path : undefined))
  })
}

/** The command in a PID namespace of its own, whose processes all end with it. */
export const namespaced = (
  bubblewrap: string,
  { command, args = [] }: Pick<CommandTarget, 'command' | 'args'>,
): Required<Pick<CommandTarget, 'command' | 'args'>> => ({ command: bubblewrap, args: [...flags, '--', command, ...args] })

/**
 * Sends a signal to the members of a process group that run inside the namespace. The two processes of bubblewrap are the leader and
 * its child: ended by SIGTERM, they would kill the server before it can react.
 */
export function signalNamespace(leader: number, signal: NodeJS.Signals): void {
  for (const pid of readdirSync('/proc')
    .filter((name) => /^\d+$/u.test(name))
    .map(Number)) {
    const { parent, group } = statusOf(pid)
    if (group !== leader || pid === leader || parent === leader) continue
    try {
      process.kill(pid, signal)
    } catch {
      // It has ended.
    }
  }
}

function statusOf(pid: number): { readonly parent?: number; readonly group?: number } {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [, parent, group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { parent: Number(parent), group: Number(group) }
  } catch {
    return {}
  }
}
