/** What the exit code tells a script. */
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

/** A failure that a person at the command line can read: what happened, and what to do next. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly code: ExitCode
  /** A stable word for scripts. */
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

/** A command line that cannot be followed. */
export const usageError = (message: string, details: { readonly [key: string]: unknown } = {}): CommandError =>
  new CommandError(exit.usage, 'usage', message, { details })
