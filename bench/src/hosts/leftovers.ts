import { readdir, readlink } from 'node:fs/promises'

/** Ends programs that a host left running in its folder: at a terminal, Codex starts a daemon that survives it. Linux only. */
export async function endLeftovers(folder: string): Promise<void> {
  const processes = process.platform === 'linux' ? await readdir('/proc') : []
  for (const pid of processes.filter((name) => /^\d+$/u.test(name))) {
    const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => '')
    if (cwd.startsWith(`${folder}/`)) end(Number(pid))
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended in the meantime.
  }
}
