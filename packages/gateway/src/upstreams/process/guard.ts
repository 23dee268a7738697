import { type ChildProcess, spawn } from 'node:child_process'
import { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { ProcessLife } from '@unfold-mcp/client'

const program = fileURLToPath(new URL('./guard.mjs', import.meta.url))
// Its only work is to wait, so it needs hardly any memory.
const frugal = ['--max-old-space-size=16', '--max-semi-space-size=1']
const maxStarts = 5
const marks: { readonly [L in ProcessLife]: string } = { installing: '*', started: '+', ended: '-' }

/**
 * Sees to it that no process outlives this one, also when this one is killed: another process is told which there are, and ends
 * them when the pipe between the two is closed. It is started with the first of them. Plugins need none of this: they run code of
 * ours, which ends them from within (`lifeline.mjs` in the server package); upstreams are programs of others.
 */
export class Guard {
  readonly #running = new Map<number, ProcessLife>()
  #child: ChildProcess | undefined
  #starts = 0
  #isClosed = false

  /** The number of the guarding process, while there is one. */
  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** A process began, as the leader of a group of its own, has been installed, or ended. */
  readonly tell = (pid: number, phase: ProcessLife): void => {
    if (this.#isClosed) return
    if (phase === 'ended') this.#running.delete(pid)
    else this.#running.set(pid, phase)
    if (this.#child === undefined && phase !== 'ended') this.#start()
    else this.#write(`${marks[phase]}${pid}\n`)
  }

  /** Ends it, and with it whatever still runs. */
  close(): void {
    this.#isClosed = true
    this.#child?.stdin?.end()
    this.#child = undefined
  }

  #start(): void {
    if (this.#starts >= maxStarts) return
    this.#starts++
    // In a session of its own, so that what ends the gateway from a terminal does not end this first.
    const child = spawn(process.execPath, [...frugal, program], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
      windowsHide: true,
    })
    this.#child = child
    child.on('error', () => this.#gone(child)).on('exit', () => this.#gone(child))
    // Where no more files may be opened there is none.
    const stdin: Writable | null | undefined = child.stdin
    stdin?.on('error', () => undefined)
    // Neither it nor the pipe is a reason to go on.
    child.unref()
    if (stdin instanceof Socket) stdin.unref()
    for (const [pid, phase] of this.#running) this.#write(`${marks[phase]}${pid}\n`)
  }

  #write(line: string): void {
    this.#child?.stdin?.write(line)
  }

  #gone(child: ChildProcess): void {
    if (this.#child !== child || this.#isClosed) return
    this.#child = undefined
    if (this.#running.size > 0) this.#start()
  }
}
