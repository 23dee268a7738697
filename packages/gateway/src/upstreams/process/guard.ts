import { type ChildProcess, spawn } from 'node:child_process'
import { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { ProcessState } from '@unfold-mcp/client'

const program = fileURLToPath(new URL('./guard.mjs', import.meta.url))
/** Arguments of Node that run the guard program. It only waits, so it needs little memory. */
export const guardArgs = ['--max-old-space-size=16', '--max-semi-space-size=1', program] as const
const maxStarts = 5
const marks: { readonly [L in ProcessState]: string } = { installing: '*', started: '+', ended: '-' }

/**
 * Ensures that no upstream process outlives the gateway, even if the gateway is killed: a guard process knows their pids and the ids
 * in the environment of their descendants, and ends them when its standard input closes. Plugins do not need it: they run our own code, which ends itself (`watchdog.mjs` in the
 * server package).
 */
export class Guard {
  readonly #running = new Map<number, { readonly phase: ProcessState; readonly id: string }>()
  #child: ChildProcess | undefined
  #starts = 0
  #isClosed = false

  /** Pid of the guard process, while it runs. */
  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** Records that a process (a group leader) started, was installed, or ended. */
  readonly track = (pid: number, phase: ProcessState, id = ''): void => {
    if (this.#isClosed) return
    if (phase === 'ended') this.#running.delete(pid)
    else this.#running.set(pid, { phase, id })
    if (this.#child === undefined && phase !== 'ended') this.#start()
    else this.#write(pid, phase, id)
  }

  /** Ends the guard process, which ends all remaining processes. */
  close(): void {
    this.#isClosed = true
    this.#child?.stdin?.end()
    this.#child = undefined
  }

  #start(): void {
    if (this.#starts >= maxStarts) return
    this.#starts++
    // Detached, so that Ctrl-C in a terminal does not end it before the gateway.
    const child = spawn(process.execPath, [...guardArgs], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
      windowsHide: true,
      // Without the mark of a gateway that started this one, which would end the guard before the guard has ended the servers.
      env: { ...process.env, UNFOLD_PROCESS_IDS: '' },
    })
    this.#child = child
    child.on('error', () => this.#gone(child)).on('exit', () => this.#gone(child))
    // null if no more file descriptors are available.
    const stdin: Writable | null | undefined = child.stdin
    stdin?.on('error', () => undefined)
    // Neither the process nor the pipe keeps the gateway running.
    child.unref()
    if (stdin instanceof Socket) stdin.unref()
    for (const [pid, { phase, id }] of this.#running) this.#write(pid, phase, id)
  }

  #write(pid: number, phase: ProcessState, id: string): void {
    this.#child?.stdin?.write(`${marks[phase]}${pid} ${id}\n`)
  }

  #gone(child: ChildProcess): void {
    if (this.#child !== child || this.#isClosed) return
    this.#child = undefined
    if (this.#running.size > 0) this.#start()
  }
}
