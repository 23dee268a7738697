import { existsSync } from 'node:fs'
import { printable } from '@unfold-mcp/core'
import { type CommandTarget, labelOf } from '../config/target.ts'
import { ClientError, errorMessage } from '../errors/errors.ts'
import { isStackFrame } from '../process/error-line.ts'
import type { Output } from '../process/output.ts'

/** Error for a process that could not be started. */
export function startError(target: CommandTarget, error: unknown): ClientError {
  if (error instanceof ClientError) return error
  const label = labelOf(target)
  const message = `${label} could not be started. ${startHint(target, error)}`
  return new ClientError('unreachable', message, { target: label }, { cause: error })
}

function startHint({ command, cwd }: CommandTarget, error: unknown): string {
  switch (error instanceof Error && 'code' in error ? error.code : undefined) {
    case 'ENOENT':
      return cwd !== undefined && !existsSync(cwd)
        ? `The folder ${printable(cwd)} does not exist.`
        : /\s/u.test(command)
          ? 'Command not found. "command" is one program; put each argument in "args" (in a terminal: do not quote the command line).'
          : 'Command not found. Check its spelling, install it, or use its full path.'
    case 'EACCES':
      return 'Permission denied. Check that the file is executable.'
    case 'EMFILE':
    case 'ENFILE':
      return 'Too many open files. Raise the limit (ulimit -n), or use fewer servers and clients.'
    default:
      return errorMessage(error)
  }
}

export interface Exit {
  readonly code: number | null
  readonly signal: string | null
  /** True if the process had sent a message. */
  readonly hasAnswered: boolean
}

/** Error for a process that exited on its own. */
export function exitError(
  commandTarget: CommandTarget,
  { code, signal, hasAnswered }: Exit,
  { firstError, ...output }: Output,
): ClientError {
  const target = labelOf(commandTarget)
  const how = signal === null ? `exited with code ${code ?? 'unknown'}` : `was killed by ${signal}`
  const last = lastOutput(output.lastLines)
  // The first error of a server that has run for a while is not why it exited.
  const reason = hasAnswered ? undefined : firstError
  const why = reason === undefined ? '.' : `: ${reason}`
  const stdout = output.unexpectedLine === undefined ? '' : `\n${stdoutHint(output.unexpectedLine)}`
  const isRepeated = reason !== undefined && !last.includes('\n') && last.endsWith(reason)
  const rest = isRepeated ? '' : last === '' ? ' Stderr is empty.' : `\nLast stderr output:\n${last}`
  const details = { target, code, signal, ...output, ...(reason !== undefined && { firstError: reason }) }
  return new ClientError('server_died', `${target} ${how}${why}${rest}${stdout}`, details)
}

/** Says what a program that is not a server, or that logs to stdout, wrote instead of messages. */
const stdoutHint = (line: string): string =>
  `It wrote to stdout, but not an MCP message: "${line}". Check that the command starts an MCP server, and that it logs to stderr.`

const errorLine = /^\s*(?:Uncaught )?[\w.]*(?:Error|Exception)\b.*:/u

/** Returns the last lines, starting with the last error. */
function lastOutput(lines: readonly string[]): string {
  const messages = lines.filter((line) => !isStackFrame(line))
  const last = (messages.length === 0 ? lines : messages).slice(-4)
  const error = messages.findLast((line) => errorLine.test(line))
  const output = error === undefined ? last : [error, ...last.slice(last.lastIndexOf(error) + 1)]
  return output.map((line) => `  ${printable(line, 300)}`).join('\n')
}

/** Adds the output of the process to a timeout. */
export function withOutput(
  error: ClientError<'timeout'>,
  { lastLines, firstError, unexpectedLine, isInstalling }: Output & { readonly isInstalling: boolean },
): ClientError {
  const last = lastLines.length === 0 ? '' : ` Last stderr output: ${errorMessage(lastLines.slice(-3).join(' / '))}`
  const stdout = unexpectedLine === undefined ? '' : ` ${stdoutHint(unexpectedLine)}`
  const output = `${firstError === undefined ? last : ` It wrote: ${firstError}`}${stdout}`
  const details = {
    ...{ ...error.details, lastLines, isInstalling },
    ...(firstError !== undefined && { firstError }),
    ...(unexpectedLine !== undefined && { unexpectedLine }),
  }
  return new ClientError('timeout', `${error.message}${output}`, details, { cause: error })
}

/** The installation failed, so an immediate second attempt would fail too. */
export const isNotInstalled = ({ details }: ClientError<'server_died'>): boolean =>
  details.npxFolder !== undefined || details.lastLines.some((line) => /^npm (?:error|ERR!) code E/u.test(line))
