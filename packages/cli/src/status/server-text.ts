import type { ToolReport } from '@unfold-mcp/gateway'
import { formatNumber, plural } from '../text/number.ts'
import { safeText } from '../text/safe.ts'
import { tableLines } from '../text/table.ts'
import { wrapped } from '../text/wrap.ts'
import { formatDuration, joinParts } from './format.ts'
import { signInWays } from './sign-in-text.ts'
import {
  announcesText,
  changeText,
  holderText,
  reviewText,
  type Screen,
  slowdownText,
  stateText,
  type Upstream,
} from './status-text.ts'
import { attemptText } from './summary.ts'

/** Details of one server of a gateway. */
export function serverText(upstream: Upstream, tools: readonly ToolReport[], { style, width }: Screen): string {
  const { name, state, forMs, server, pid, protocolVersion, announcesChanges, calls, notes, lastOutput, lastError, attempt } =
    upstream
  const tokens = tools.reduce((sum, tool) => sum + tool.tokens, 0)
  const rows: readonly (readonly [string, string])[] = [
    [
      'server',
      joinParts([
        server === undefined ? undefined : safeText(server),
        protocolVersion === undefined ? undefined : safeText(protocolVersion),
        pid === undefined ? undefined : `pid ${pid}`,
      ]),
    ],
    ['replica', holderText(upstream) ?? ''],
    ['sandbox', sandboxText(upstream)],
    ['changes', joinParts([announcesChanges === undefined ? undefined : announcesText(announcesChanges), changeText(upstream)])],
    ['slowed', slowdownLine(upstream)],
    ['review', reviewText(upstream, style) ?? ''],
    ['calls', `${formatNumber(calls.running)} running, ${formatNumber(calls.waiting)} waiting`],
    ['last stderr', lastOutput === undefined ? '' : safeText(lastOutput, { limit: 500 })],
    ['last error', lastError === undefined ? '' : safeText(lastError, { limit: 2_000 })],
    ['sign in', state === 'needs_login' ? signInWays(upstream) : ''],
    ['attempts', attempt === undefined ? '' : attemptText(upstream)],
    ['tools', tools.length === 0 ? '' : `${formatNumber(tools.length)} exposed, ~${formatNumber(tokens)} tokens`],
  ]
  return [
    `${style.bold(safeText(name))}: ${stateText(state, style)} for ${formatDuration(forMs)}`,
    ...tableLines(
      rows.filter(([, text]) => text !== ''),
      { width, indent: 2 },
    ),
    ...findingLines(upstream, { style, width }),
    ...(notes.length === 0 ? [] : ['', style.bold('Notes')]),
    ...notes.flatMap(({ message }) => wrapped(safeText(message, { limit: 500 }), width - 2)).map((line) => `  ${line}`),
    ...(tools.length === 0 ? [] : ['', style.bold('Tools')]),
    ...tableLines(
      tools.map((tool) => [safeText(tool.name), safeText(tool.description)]),
      { width, indent: 2, last: 'cut' },
    ),
  ].join('\n')
}

function sandboxText({ sandbox }: Upstream): string {
  if (sandbox === undefined) return ''
  const { preset, network, read, write } = sandbox
  const paths = (what: string, list: readonly string[]): string | undefined =>
    list.length === 0 ? undefined : `${what} ${list.map((path) => safeText(path)).join(', ')}`
  return joinParts([preset, network ? 'network on' : 'network off', paths('reads', read), paths('writes', write)])
}

function slowdownLine(upstream: Upstream): string {
  const text = slowdownText(upstream)
  return text === undefined ? '' : `${text}. Limit its tools with "allow", or make the server announce fewer changes.`
}

function findingLines({ findings, findingCount }: Upstream, { style, width }: Screen): readonly string[] {
  if (findings.length === 0) return []
  // Most advice is identical.
  const advice = new Set(findings.flatMap((each) => each.advice.split(/(?<=\.) /u)))
  return [
    '',
    style.bold(style.yellow('Suspicious content')),
    ...findings.flatMap(({ tool, path, description, excerpt }) => [
      ...wrapped(
        `${tool === undefined ? '' : `${safeText(tool)}: `}${safeText(path, { limit: 300 })} ${safeText(description)}`,
        width - 2,
      ).map((line) => `  ${line}`),
      ...wrapped(safeText(excerpt), width - 6).map((line) => `      ${line}`),
    ]),
    ...(findingCount > findings.length ? [`  … and ${plural(findingCount - findings.length, 'more finding')}`] : []),
    ...wrapped(safeText([...advice].join(' '), { limit: 2_000 }), width - 2).map((line) => `  ${line}`),
  ]
}
