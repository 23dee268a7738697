import type { Log, LogLevel } from '@unfold-mcp/gateway'
import { usageError } from '../base/exit.ts'
import { type Flags, textOf } from '../grammar/grammar.ts'

const levels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']

export function logLevel(flags: Flags, flag: string): LogLevel | undefined {
  const text = textOf(flags, flag)
  const level = levels.find((each) => each === text)
  if (text !== undefined && level === undefined) throw usageError(`--${flag} must be one of ${levels.join(', ')}, not "${text}".`)
  return level
}

/** Suppresses info and messages about servers while `isQuiet`: the startup summary shows the same. */
export function quietDuring(log: Log, isQuiet: () => boolean): Log {
  const unlessQuiet =
    (write: Log['info']): Log['info'] =>
    (data, message) => {
      if (!isQuiet()) write(data, message)
    }
  const unlessServer =
    (write: Log['warn']): Log['warn'] =>
    (data, message) => {
      if (!('upstream' in data && isQuiet())) write(data, message)
    }
  const { problem } = log
  return {
    debug: unlessQuiet(log.debug),
    info: unlessQuiet(log.info),
    warn: unlessServer(log.warn),
    error: unlessServer(log.error),
    ...(problem !== undefined && { problem }),
  }
}
