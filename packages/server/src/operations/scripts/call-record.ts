import { printable } from '@unfold-mcp/core'

/**
 * `waiting`: for a slot or a person; `sent`: without a result so far; `input`: its tool asked for input; `unknown`: it was sent and
 * the result was lost.
 */
export type CallState = 'waiting' | 'sent' | 'input' | 'ok' | 'failed' | 'denied' | 'unknown'

/** A tool call of a script, for its reply. */
export interface CallRecord {
  readonly id: number
  readonly tool: string
  readonly arguments: string
  readonly line?: number
  readonly state: CallState
  readonly reason?: string
}

const longest = 160

export const shortArguments = (value: unknown): string => printable(JSON.stringify(value ?? {}) ?? '', longest)

export function recordText({ tool, arguments: args, line, state, reason }: CallRecord): string {
  return `${printable(tool)}(${args})${line === undefined ? '' : `, line ${line}`}: ${stateText(state, reason)}`
}

const texts: { readonly [S in CallState]: string } = {
  waiting: 'not sent',
  sent: 'sent, and stopped before its result: its effect is unknown',
  input: 'sent, and its tool waits for input',
  ok: 'done',
  failed: 'failed',
  denied: 'not sent, denied',
  unknown: 'sent, and its result was lost: its effect is unknown',
}

function stateText(state: CallState, reason: string | undefined): string {
  if (reason === 'approval_pending') return 'not sent, waits for approval'
  return state === 'failed' && reason !== undefined ? `failed (${printable(reason)})` : texts[state]
}
