import { type ClientError, isClientError } from '@unfold-mcp/client'
import { printable } from '@unfold-mcp/core'
import { errorMessage } from '../base/error-message.ts'
import type { UpstreamSettings } from './config.ts'

/** The server that failed. */
export interface Failing {
  readonly name: string
  /** Whether it is a process of ours. */
  readonly isCommand: boolean
  /** Whether it was connected when it failed. */
  readonly wasConnected: boolean
  readonly settings: Pick<UpstreamSettings, 'startTimeoutMs' | 'installTimeoutMs'>
}

/**
 * Why a server is not there, for whoever runs the gateway: what failed, why, and what to do. It goes on after the name of the
 * server; what a process wrote may be in it.
 */
export function failureText(error: unknown, failing: Failing): string {
  const { isCommand, wasConnected } = failing
  if (isClientError(error, 'login_required')) return `needs a login: ${errorMessage(error)}`
  if (wasConnected) return `was lost: ${errorMessage(error)}`
  if (isClientError(error, 'server_died')) return died(error, failing)
  if (isClientError(error, 'timeout')) return late(error, failing)
  return `${isCommand ? 'failed to start' : 'failed to connect'}: ${errorMessage(error)}`
}

const variable = /\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b/u

function died({ details }: ClientError<'server_died'>, { name }: Failing): string {
  const { code, signal, firstError, lastLines, npxFolder } = details
  const how = signal === null ? `it exited with code ${code ?? 'unknown'}` : `it was ended by ${signal}`
  const last = lastLines.findLast((line) => line.trim() !== '')
  const reason =
    firstError ?? (last === undefined ? `${how} and wrote nothing to standard error` : `${how}: ${printable(last.trim(), 300)}`)
  if (npxFolder !== undefined) {
    const advice = `The npx folder ${printable(npxFolder, 500)} is incomplete. Delete it, or run "unfold doctor --fix".`
    return `failed to start: ${ended(reason)} ${advice}`
  }
  const first = variable.test(reason) ? 'Set it' : `See "unfold logs ${argument(name)} --stderr"`
  return `failed to start: ${ended(reason)} ${first}, or ${removal(name)}`
}

function late({ details }: ClientError<'timeout'>, { name, isCommand, settings }: Failing): string {
  const { timeoutMs, isInstalling = false, firstError, lastLines = [] } = details
  const isLonger = isInstalling && settings.installTimeoutMs > settings.startTimeoutMs
  const setting = isLonger ? 'installTimeoutMs' : 'startTimeoutMs'
  const wrote = firstError ?? lastLines.findLast((line) => line.trim() !== '')
  const output = wrote === undefined ? '' : ` It wrote: ${ended(printable(wrote.trim(), 300))}`
  const what = isCommand ? 'failed to start' : 'failed to connect'
  return `${what}: no answer within ${timeoutMs / 1_000} s.${output} If it is only slow, raise "${setting}" (${settings[setting]}), or ${removal(name)}`
}

const removal = (name: string): string => `remove the server with "unfold remove ${argument(name)}".`

const argument = (name: string): string =>
  /^[\w.@/-]+$/u.test(name) ? name : `'${printable(name).replaceAll("'", String.raw`'\''`)}'`

const ended = (text: string): string => (/[.!?…]$/u.test(text) ? text : `${text}.`)
