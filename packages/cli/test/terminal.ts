import { spawn } from '@lydell/node-pty'
import { main } from './command.ts'

/** Key codes. */
export const keys = { enter: '\r', escape: '\u001b', down: '\u001b[B', up: '\u001b[A', interrupt: '\u0003', space: ' ' }

/** A simulated user at a terminal. */
export interface Person extends AsyncDisposable {
  /** The complete output so far. */
  readonly raw: string
  /** The same without colours and cursor movements. */
  readonly seen: string
  /** Waits until the text appears, after the output seen by the last call. */
  sees(text: string | RegExp): Promise<string>
  types(text: string): void
  /** The exit code. */
  ended: Promise<number>
}

const timeoutMs = 60_000

interface TerminalOptions {
  readonly env: { readonly [name: string]: string | undefined }
  readonly cwd: string
  readonly columns?: number
}

/** Runs the command in a pseudo-terminal; `shell` is a shell line in which `"$@"` is the command. */
export function person(args: readonly string[], { shell, ...options }: TerminalOptions & { readonly shell?: string }): Person {
  const command = [process.execPath, main, ...args]
  return personAt(shell === undefined ? command : ['/bin/sh', '-c', shell, 'sh', ...command], options)
}

/** Runs a program in a pseudo-terminal. */
export function personAt([program = '', ...args]: readonly string[], { env, cwd, columns = 90 }: TerminalOptions): Person {
  const terminal = spawn(program, args, {
    name: 'xterm-256color',
    cols: columns,
    rows: 40,
    cwd,
    env: { ...env, TERM: 'xterm-256color' },
  })
  let raw = ''
  let from = 0
  const waiting = new Set<() => void>()
  const tell = (): void => {
    for (const each of waiting) each()
  }
  terminal.onData((data) => {
    raw += data
    // Some programs wait for the position of the cursor.
    if (data.includes(askPosition)) terminal.write(`${esc}[1;1R`)
    tell()
  })
  let isOver = false
  const ended = new Promise<number>((resolve) => {
    terminal.onExit(({ exitCode }) => {
      isOver = true
      // The end of the output may arrive later.
      setTimeout(() => {
        tell()
        resolve(exitCode)
      }, 50)
    })
  })
  const seen = (): string => plain(raw)
  return {
    get raw() {
      return raw
    },
    get seen() {
      return seen()
    },
    sees(text) {
      return new Promise((resolve, reject) => {
        const late = setTimeout(() => stop(new Error(`Not seen: ${text}\n--- seen instead:\n${seen().slice(from)}`)), timeoutMs)
        const look = (): void => {
          const now = seen()
          const rest = now.slice(from)
          const at = typeof text === 'string' ? rest.indexOf(text) : rest.search(text)
          if (at === -1) return
          from += at + 1
          stop()
        }
        const stop = (error?: Error): void => {
          clearTimeout(late)
          waiting.delete(look)
          if (error === undefined) resolve(seen())
          else reject(error)
        }
        waiting.add(look)
        look()
      })
    },
    types: (text) => terminal.write(text),
    ended,
    async [Symbol.asyncDispose]() {
      if (!isOver) terminal.kill('SIGKILL')
      await ended
    },
  }
}

const esc = '\u001b'
const bell = '\u0007'
const askPosition = `${esc}[6n`
const sequence = new RegExp(
  `${esc}(?:\\[[\\d;?]*[A-Za-z]|\\][^${bell}${esc}]*(?:${bell}|${esc}\\\\)|_[^${esc}]*${esc}\\\\|.)`,
  'gu',
)

const plain = (text: string): string => text.replaceAll(sequence, '')
