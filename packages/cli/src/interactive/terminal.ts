import type { Key } from 'node:readline'
import { Writable } from 'node:stream'
import { isCancel } from '@clack/prompts'
import { CommandError, exit } from '../base/exit.ts'
import type { Io } from '../base/io.ts'
import { usesColour } from '../text/style.ts'

/** Options of every prompt. */
export interface Terminal {
  readonly input: Io['stdin']
  readonly output: Writable
  readonly signal: AbortSignal
}

/** Prompts are drawn on stderr; stdout is for data. */
export function promptTerminal(io: Io, signal: AbortSignal = io.signal): Terminal {
  const { stdin, stderr, env } = io
  const isColoured = usesColour({ env, isTerminal: stderr.isTTY === true })
  return { input: stdin, output: isColoured ? stderr : uncoloured(stderr), signal: AbortSignal.any([signal, endOf(stdin)]) }
}

const ends = new WeakMap<Io['stdin'], AbortSignal>()

/** Aborts at the end of input; otherwise a prompt would wait forever. */
function endOf(stdin: Io['stdin']): AbortSignal {
  const known = ends.get(stdin)
  if (known !== undefined) return known
  const end = new AbortController()
  stdin.once('end', () => end.abort())
  stdin.on('keypress', (_: unknown, key: Key | undefined) => {
    if (key?.ctrl === true && key.name === 'd') end.abort()
  })
  ends.set(stdin, end.signal)
  return end.signal
}

/** Throws if the prompt was cancelled. */
export function requireAnswer<T>(answer: T): Exclude<T, symbol> {
  if (isCancel(answer)) throw new CommandError(exit.interrupted, 'interrupted', 'Interrupted.')
  return answer as Exclude<T, symbol>
}

// Attributes that show the cursor are kept.
const kept = new Set(['7', '27', '8', '28'])

function uncoloured(screen: Io['stderr']): Writable {
  const plain = new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _, done) {
      screen.write(withoutColours(String(chunk)), done)
    },
  })
  Object.defineProperties(plain, {
    isTTY: { get: () => screen.isTTY },
    columns: { get: () => screen.columns },
    rows: { get: () => ('rows' in screen ? screen.rows : undefined) },
  })
  return plain
}

const esc = '\u001b'
const colour = new RegExp(`${esc}\\[([\\d;]*)m`, 'gu')

const withoutColours = (text: string): string => text.replaceAll(colour, (whole, code: string) => (kept.has(code) ? whole : ''))
