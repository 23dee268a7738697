import type { ClientError, ClientReason } from '@unfold-mcp/client'
import { isFailure } from '@unfold-mcp/core'
import { errorMessage } from './error-message.ts'
import { CommandError, type ExitCode, exit } from './exit.ts'

const codes: { readonly [R in ClientReason]: ExitCode } = {
  unreachable: exit.unreachable,
  timeout: exit.unreachable,
  server_died: exit.unreachable,
  login_required: exit.login,
  unknown_tool: exit.tool,
  invalid_arguments: exit.usage,
  identity_mismatch: exit.blocked,
  protocol: exit.failed,
  cancelled: exit.interrupted,
  too_large: exit.failed,
}

function loginHint(server: string): string {
  const signIn = `\nSign in: unfold login ${server}`
  return /^https?:/iu.test(server) ? `${signIn}\nOr pass a token: --header 'Authorization: Bearer <token>'` : signIn
}

// Recognised by name: importing the classes would load the client or the gateway for every command.
const isClientError = (error: unknown): error is ClientError => error instanceof Error && error.name === 'ClientError'
const isConfigError = (error: unknown): error is Error => error instanceof Error && error.name === 'ConfigError'

/** Converts any error to one with an exit code and a reason. */
export function toCommandError(error: unknown, server = '<server>'): CommandError {
  if (error instanceof CommandError) return error
  if (isClientError(error)) {
    const { reason, message, details } = error
    const next = reason === 'login_required' ? loginHint(server) : ''
    return new CommandError(codes[reason], reason, `${message}${next}`, { details: { ...details }, cause: error })
  }
  if (isConfigError(error))
    return new CommandError(exit.usage, 'invalid_config', error.message, {
      details: 'problems' in error ? { problems: error.problems } : {},
      cause: error,
    })
  if (isFailure(error)) return new CommandError(exit.failed, error.reason, error.message, { cause: error })
  return new CommandError(exit.failed, 'failed', errorMessage(error), { cause: error })
}
