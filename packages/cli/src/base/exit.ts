/** Exit codes of the command. */
export const exit = {
  ok: 0,
  failed: 1,
  usage: 2,
  login: 3,
  unreachable: 4,
  tool: 5,
  blocked: 6,
  interrupted: 130,
} as const

export type ExitCode = (typeof exit)[keyof typeof exit]

/** An error printed to the user: what happened, and what to do next. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly code: ExitCode
  /** Stable identifier for scripts. */
  readonly reason: string
  readonly details: { readonly [key: string]: unknown }

  constructor(
    code: ExitCode,
    reason: string,
    message: string,
    { details = {}, cause }: { readonly details?: { readonly [key: string]: unknown }; readonly cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? {} : { cause })
    this.code = code
    this.reason = reason
    this.details = details
  }
}

/** An invalid command line. */
export const usageError = (message: string, details: { readonly [key: string]: unknown } = {}): CommandError =>
  new CommandError(exit.usage, 'usage', message, { details })
