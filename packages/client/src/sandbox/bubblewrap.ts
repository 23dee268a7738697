import { execFile } from 'node:child_process'
import { findBubblewrap } from '../process/namespace.ts'

/** Bubblewrap with the flags that isolate a process here, or why it cannot be used and what to do. */
export type Bubblewrap = { readonly program: string; readonly isolation: readonly string[] } | { readonly problem: string }

// Own processes, users, shared memory and host name, and no capabilities, with which read-only mounts could be changed. The server
// leads a session already, so it cannot write to a terminal.
const isolation = [
  ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
  ...['--cap-drop', 'ALL', '--die-with-parent'],
]
// Not in old versions, and not allowed in some containers.
const optional = ['--disable-userns']
const probeMounts = ['--unshare-net', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp']

let usable: Promise<Bubblewrap> | undefined

/** Checks whether bubblewrap works here. Only success is remembered, so that it can be installed while this process runs. */
export async function sandboxProgram(): Promise<Bubblewrap> {
  usable ??= probe()
  const found = await usable
  if ('problem' in found) usable = undefined
  return found
}

async function probe(): Promise<Bubblewrap> {
  if (process.platform !== 'linux') return { problem: 'It needs bubblewrap, which exists only on Linux.' }
  const program = findBubblewrap()
  if (program === undefined)
    return { problem: 'Bubblewrap (bwrap) is not installed. Install it, for example with "apt install bubblewrap".' }
  if ((await failure(program, [...isolation, ...optional])) === undefined)
    return { program, isolation: [...isolation, ...optional] }
  const reason = await failure(program, isolation)
  if (reason === undefined) return { program, isolation }
  return {
    problem: `Bubblewrap (bwrap) is not allowed to create namespaces here: ${reason}. See "Requirements" in the sandbox guide.`,
  }
}

function failure(program: string, flags: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(program, [...flags, ...probeMounts, '--', 'true'], { timeout: 20_000 }, (error, _stdout, stderr) => {
      const [line = ''] = stderr.trim().split('\n')
      resolve(error === null ? undefined : line.replace(/^bwrap: /u, '') || error.message.split('\n')[0])
    })
  })
}
