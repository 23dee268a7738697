import { type ClientError, isClientError } from '@unfold-mcp/client'
import { printable } from '@unfold-mcp/core'
import { errorMessage } from '../base/error-message.ts'
import type { UpstreamSettings } from './config.ts'

export interface Failing {
  readonly name: string
  /** True if the gateway starts the server as a process. */
  readonly isCommand: boolean
  readonly wasConnected: boolean
  readonly settings: Pick<UpstreamSettings, 'startTimeoutMs' | 'installTimeoutMs'>
}

/**
 * Message for the operator: what failed, why, and what to do. It follows the name of the server and may include process output.
 */
export function failureText(error: unknown, failing: Failing): string {
  const { isCommand, wasConnected } = failing
  if (isClientError(error, 'login_required')) return `requires authentication: ${errorMessage(error)}`
  if (wasConnected) return `disconnected: ${errorMessage(error)}`
  if (isClientError(error, 'server_died')) return processEnded(error, failing)
  if (isClientError(error, 'timeout')) return timedOut(error, failing)
  return `${isCommand ? 'failed to start' : 'failed to connect'}: ${errorMessage(error)}`
}

const variable = /\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b/u

function processEnded({ details }: ClientError<'server_died'>, { name }: Failing): string {
  const { code, signal, firstError, lastLines, npxFolder, unexpectedLine } = details
  const how = signal === null ? `it exited with code ${code ?? 'unknown'}` : `it was killed by ${signal}`
  const last = lastLines.findLast((line) => line.trim() !== '')
  const reason =
    firstError ?? (last === undefined ? `${how} and wrote nothing to standard error` : `${how}: ${printable(last.trim(), 300)}`)
  if (npxFolder !== undefined) {
    const advice = `The npx folder ${printable(npxFolder, 500)} is incomplete. Delete it, or run "unfold doctor --fix".`
    return `failed to start: ${sentence(reason)} ${advice}`
  }
  if (firstError === undefined && unexpectedLine !== undefined)
    return `failed to start: ${how}. ${stdoutHint(unexpectedLine)} Otherwise, ${removal(name)}`
  const first = variable.test(reason)
    ? 'Set it'
    : last === undefined
      ? 'Check "command" and "args"'
      : `See "unfold logs ${argument(name)} --stderr"`
  return `failed to start: ${sentence(reason)} ${first}, or ${removal(name)}`
}

function timedOut({ details }: ClientError<'timeout'>, { name, isCommand, settings }: Failing): string {
  const { timeoutMs, isInstalling = false, firstError, lastLines = [], unexpectedLine } = details
  const isLonger = isInstalling && settings.installTimeoutMs > settings.startTimeoutMs
  const setting = isLonger ? 'installTimeoutMs' : 'startTimeoutMs'
  const wrote = firstError ?? lastLines.findLast((line) => line.trim() !== '')
  const stderr = wrote === undefined ? '' : ` stderr: ${sentence(printable(wrote.trim(), 300))}`
  const output = unexpectedLine === undefined ? stderr : `${stderr} ${stdoutHint(unexpectedLine)}`
  const what = isCommand ? 'failed to start' : 'failed to connect'
  return `${what}: no response within ${timeoutMs / 1_000} s.${output} If it is slow, increase "${setting}" (${settings[setting]}), or ${removal(name)}`
}

const stdoutHint = (line: string): string =>
  `It wrote to stdout, but not an MCP message: "${printable(line, 200)}". Check that the command starts an MCP server, and that it logs to stderr.`

const removal = (name: string): string => `remove the server with "unfold remove ${argument(name)}".`

const argument = (name: string): string =>
  /^[\w.@/-]+$/u.test(name) ? name : `'${printable(name).replaceAll("'", String.raw`'\''`)}'`

const sentence = (text: string): string => (/[.!?…]$/u.test(text) ? text : `${text}.`)
