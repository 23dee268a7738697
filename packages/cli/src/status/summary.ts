import { printable } from '@unfold-mcp/core'
import type { Gateway, UpstreamStatus } from '@unfold-mcp/gateway'
import { formatNumber, plural } from '../text/number.ts'
import { safeText } from '../text/safe.ts'
import { formatDuration, toolCount } from './format.ts'
import { signInText } from './sign-in-text.ts'

/** Takes out of what servers say what must not be told. */
export type Clean = (text: string) => string

type State = UpstreamStatus['state']

/** How a server is, in the words that follow its name. */
export function serverLine(status: UpstreamStatus, offered: number, clean: Clean = (text) => text): string {
  const { name, address, state, tools } = status
  switch (state) {
    case 'ready':
      return `ready, ${toolCount(offered, tools)}`
    case 'degraded':
      return errorText(status, clean)
    case 'starting':
    case 'installing':
      return progressText(status)
    case 'sleeping':
      return `sleeps until its first call, ${plural(tools, 'tool')} known`
    case 'needs_login':
      return `needs a login; ${signInText({ name, ...(address !== undefined && { address }) })}`
    case 'disabled':
    case 'stopped':
      return state
    default:
      return `${errorText(status, clean)} (${attemptText(status)})`
  }
}

/** How far the start of a server is. */
export function progressText({ state, forMs, attempt = 1, isQueued }: UpstreamStatus): string {
  if (isQueued === true) return 'waits until other servers are installed'
  return `${state}, ${formatDuration(Math.max(1_000, forMs))}, attempt ${attempt}`
}

/** The last error of a server without its name, which stands before it. */
export function errorText(
  { name, lastError = 'failed' }: Pick<UpstreamStatus, 'name' | 'lastError'>,
  clean: Clean = (text) => text,
): string {
  const text = clean(lastError)
    .replace(`server "${printable(name)}" `, '')
    .replace(/^is /u, '')
  return safeText(text, { limit: 600 })
}

/** Which attempt failed, and when the next one is. */
export function attemptText({ attempt = 1, nextRetryInMs }: Pick<UpstreamStatus, 'attempt' | 'nextRetryInMs'>): string {
  const next = nextRetryInMs === undefined ? '' : `, next attempt in ${formatDuration(nextRetryInMs)}`
  return `attempt ${attempt}${next}`
}

/** All servers of a gateway, a line each, below how many are in which state. */
export function summaryLines({ upstreams, held, source }: Gateway, clean: Clean): readonly string[] {
  const statuses = upstreams.statuses()
  const width = nameWidth([...statuses.map(({ name }) => name), ...held.keys()])
  const line = (name: string, words: string): string => `  ${safeText(name).padEnd(width)}  ${words}`
  return [
    `All servers have settled: ${countsText(statuses, held.size)}.`,
    ...[...held].map(([name, [problem]]) => line(name, notStartedText(problem?.message))),
    ...statuses.map((status) => line(status.name, serverLine(status, source.count(status.name), clean))),
  ]
}

/** What there is to say of a server that is not started because something is missing. */
export const notStartedText = (problem = 'its configuration is incomplete.'): string => `not started: ${safeText(problem)}`

/** How wide the longest of these names is. */
export const nameWidth = (names: readonly string[]): number => Math.max(0, ...names.map((name) => safeText(name).length))

const labels: { readonly [S in State]?: string } = { needs_login: 'need a login', reconnecting: 'failed' }

function countsText(statuses: readonly UpstreamStatus[], held: number): string {
  const counts = new Map<string, number>()
  for (const { state } of statuses) counts.set(labels[state] ?? state, (counts.get(labels[state] ?? state) ?? 0) + 1)
  if (held > 0) counts.set('waiting', held)
  return [...counts].map(([label, count]) => `${formatNumber(count)} ${label}`).join(', ')
}
