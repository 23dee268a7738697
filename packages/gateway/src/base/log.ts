import { createRequire } from 'node:module'
import { styleText } from 'node:util'
import { printable } from '@unfold-mcp/core'
import type Pino from 'pino'
import { errorMessage } from './error-message.ts'

export const logLevels = ['debug', 'info', 'warn', 'error'] as const

export type LogLevel = (typeof logLevels)[number]

/** The place of a level among the others, from the least; -1 for what is none. */
export const rankOf = (level: string): number => logLevels.map(String).indexOf(level)

/** What a gateway tells of itself: a line for people, with the same as data. */
export type Log = { readonly [L in LogLevel]: (data: object, message: string) => void } & {
  /** Why the last line could not be written, if it could not. */
  readonly problem?: () => string | undefined
}

/** For where nobody wants to know. */
export const silent: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }

/** What a log is written to. */
interface LogStream {
  write(line: string, written?: (error?: Error | null) => void): unknown
  on?(event: 'error', listener: () => void): unknown
  readonly isTTY?: boolean | undefined
}

export interface LogOptions {
  /** What is less than this is not told; `info` by default. */
  readonly level?: LogLevel
  /** Where lines go; standard error by default. */
  readonly stream?: LogStream
  /** Short lines for people instead of JSON; by default when the stream is a terminal. */
  readonly isReadable?: boolean
  /** Colours in such lines; by default on a terminal. */
  readonly hasColours?: boolean
}

/** A log on standard error: JSON for programs, short lines on a terminal. */
export function createLog(options: LogOptions = {}): Log {
  const { level = 'info', stream = process.stderr } = options
  const { isReadable = stream.isTTY === true, hasColours = stream.isTTY === true } = options
  let problem: string | undefined
  // A disk that is full must not end what is being told of.
  stream.on?.('error', () => undefined)
  const write: Write = (line) =>
    void stream.write(line, (error) => {
      problem = error instanceof Error ? `Lines of the log are lost: ${errorMessage(error)}.` : undefined
    })
  const log = isReadable ? readableLog(level, write, hasColours) : jsonLog(level, write)
  return { ...log, problem: () => problem }
}

type Write = (line: string) => void

function jsonLog(least: LogLevel, write: Write): Log {
  const from = rankOf(least)
  let made: Pino.Logger | undefined
  const at =
    (level: LogLevel) =>
    (data: object, message: string): void => {
      if (rankOf(level) < from) return
      made ??= pinoOn(write, least)
      made[level](data, message)
    }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

/** Loaded with the first line: a start need not wait for it. */
function pinoOn(write: Write, level: LogLevel): Pino.Logger {
  const { pino } = createRequire(import.meta.url)('pino') as typeof Pino
  return pino(
    {
      level,
      base: { pid: process.pid },
      messageKey: 'message',
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: pino.stdSerializers.err },
    },
    { write },
  )
}

const styles = { debug: 'dim', info: 'cyan', warn: 'yellow', error: 'red' } as const

type Style = (typeof styles)[LogLevel] | 'bold'

function readableLog(least: LogLevel, write: Write, hasColours: boolean): Log {
  const from = rankOf(least)
  const styled = (style: Style, text: string): string => (hasColours ? styleText(style, text, { validateStream: false }) : text)
  const at =
    (level: LogLevel) =>
    (data: object, message: string): void => {
      if (rankOf(level) < from) return
      const time = styled('dim', new Date().toTimeString().slice(0, 8))
      const upstream =
        'upstream' in data && typeof data.upstream === 'string' ? `${styled('bold', printable(data.upstream))} ` : ''
      // What it says may come from a server, and a terminal would do what it says.
      write(`${time} ${styled(styles[level], level.padEnd(5))} ${upstream}${printable(message, 2_000)}\n`)
    }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
