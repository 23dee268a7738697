import type { Key } from 'node:readline'
import { Writable } from 'node:stream'
import { isCancel } from '@clack/prompts'
import { CommandError, exit } from '../base/exit.ts'
import type { Io } from '../base/io.ts'
import { usesColour } from '../text/style.ts'

/** What every question needs to know: where keys come from, and where it is drawn. */
export interface Terminal {
  readonly input: Io['stdin']
  readonly output: Writable
  readonly signal: AbortSignal
}

/** The terminal that a person sits at. Questions are drawn on standard error: standard output is for data. */
export function promptTerminal(io: Io, signal: AbortSignal = io.signal): Terminal {
  const { stdin, stderr, env } = io
  const isColoured = usesColour({ env, isTerminal: stderr.isTTY === true })
  return { input: stdin, output: isColoured ? stderr : uncoloured(stderr), signal: AbortSignal.any([signal, endOf(stdin)]) }
}

const ends = new WeakMap<Io['stdin'], AbortSignal>()

/** Aborted when the person has nothing more to say: without it, a question whose input has ended is never requireAnswer. */
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

/** The answer, or the end of the command when the person wants none of it. */
export function requireAnswer<T>(answer: T): Exclude<T, symbol> {
  if (isCancel(answer)) throw new CommandError(exit.interrupted, 'interrupted', 'Interrupted.')
  return answer as Exclude<T, symbol>
}

// Marks that show where the cursor is are no colours.
const kept = new Set(['7', '27', '8', '28'])

/** The same screen without colours. */
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
