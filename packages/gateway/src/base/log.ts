import { createRequire } from 'node:module'
import { styleText } from 'node:util'
import { printable } from '@unfold-mcp/core'
import type Pino from 'pino'
import { errorMessage } from './error-message.ts'

export const logLevels = ['debug', 'info', 'warn', 'error'] as const

export type LogLevel = (typeof logLevels)[number]

/** Numeric severity of a level; -1 for an unknown one. */
export const rankOf = (level: string): number => logLevels.map(String).indexOf(level)

/** A structured log: each line has a message and the same information as data. */
export type Log = { readonly [L in LogLevel]: (data: object, message: string) => void } & {
  /** Why the last write failed; undefined if it succeeded. */
  readonly problem?: () => string | undefined
}

export const silent: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }

/** Where log lines are written. */
export interface LogStream {
  write(line: string, written?: (error?: Error | null) => void): unknown
  on?(event: 'error', listener: () => void): unknown
  readonly isTTY?: boolean | undefined
}

export interface LogOptions {
  /** Lowest level to log; default: `info`. */
  readonly level?: LogLevel
  /** Default: standard error. */
  readonly stream?: LogStream
  /** Human-readable lines instead of JSON; default: if the stream is a terminal. */
  readonly isReadable?: boolean
  /** Colours in human-readable lines; default: if the stream is a terminal. */
  readonly hasColours?: boolean
}

/** Creates a log that writes JSON, or human-readable lines on a terminal. */
export function createLog(options: LogOptions = {}): Log {
  const { level = 'info', stream = process.stderr } = options
  const { isReadable = stream.isTTY === true, hasColours = stream.isTTY === true } = options
  let problem: string | undefined
  // Without a listener, a full disk would end the process.
  stream.on?.('error', () => undefined)
  const write: Write = (line) =>
    void stream.write(line, (error) => {
      problem = error instanceof Error ? `log write failed: ${errorMessage(error)}` : undefined
    })
  const log = isReadable ? readableLog(level, write, hasColours) : jsonLog(level, write)
  return { ...log, problem: () => problem }
}

type Write = (line: string) => void

function jsonLog(minLevel: LogLevel, write: Write): Log {
  const minRank = rankOf(minLevel)
  let logger: Pino.Logger | undefined
  const at =
    (level: LogLevel) =>
    (data: object, message: string): void => {
      if (rankOf(level) < minRank) return
      logger ??= createPino(write, minLevel)
      logger[level](data, message)
    }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

// Loaded with the first line, to keep the start fast.
function createPino(write: Write, level: LogLevel): Pino.Logger {
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

function readableLog(minLevel: LogLevel, write: Write, hasColours: boolean): Log {
  const minRank = rankOf(minLevel)
  const styled = (style: Style, text: string): string => (hasColours ? styleText(style, text, { validateStream: false }) : text)
  const at =
    (level: LogLevel) =>
    (data: object, message: string): void => {
      if (rankOf(level) < minRank) return
      const time = styled('dim', new Date().toTimeString().slice(0, 8))
      const upstream =
        'upstream' in data && typeof data.upstream === 'string' ? `${styled('bold', printable(data.upstream))} ` : ''
      // The message may contain server output, including terminal escape sequences.
      write(`${time} ${styled(styles[level], level.padEnd(5))} ${upstream}${printable(message, 2_000)}\n`)
    }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
