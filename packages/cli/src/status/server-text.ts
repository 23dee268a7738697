import type { ToolReport } from '@unfold-mcp/gateway'
import { amount } from '../text/amount.ts'
import { safeText } from '../text/safe.ts'
import { tableLines } from '../text/table.ts'
import { wrapped } from '../text/wrap.ts'
import { sentenceParts, timeText } from './one-line.ts'
import { signInWays } from './sign-in-text.ts'
import { announcesText, changeText, type Screen, stateText, type Upstream } from './status-text.ts'
import { attemptText } from './summary.ts'

/** One server behind a gateway, for a person: how it is, what should be known of its tools, and what they are. */
export function serverText(upstream: Upstream, tools: readonly ToolReport[], { style, width }: Screen): string {
  const {
    name,
    state,
    forMs,
    server,
    pid,
    protocolVersion,
    announcesChanges,
    calls,
    notes,
    findings,
    lastOutput,
    lastError,
    attempt,
  } = upstream
  const tokens = tools.reduce((sum, tool) => sum + tool.tokens, 0)
  const about: readonly (readonly [string, string])[] = [
    [
      'server',
      sentenceParts([
        server === undefined ? undefined : safeText(server),
        protocolVersion === undefined ? undefined : safeText(protocolVersion),
        pid === undefined ? undefined : `process ${pid}`,
      ]),
    ],
    [
      'changes',
      sentenceParts([announcesChanges === undefined ? undefined : announcesText(announcesChanges), changeText(upstream)]),
    ],
    ['calls', `${amount(calls.running)} running, ${amount(calls.waiting)} waiting`],
    ['last stderr', lastOutput === undefined ? '' : safeText(lastOutput, { limit: 500 })],
    ['last error', lastError === undefined ? '' : safeText(lastError, { limit: 2_000 })],
    ['sign in', state === 'needs_login' ? signInWays(upstream) : ''],
    ['attempts', attempt === undefined ? '' : attemptText(upstream)],
    ['tools', tools.length === 0 ? '' : `${amount(tools.length)} for clients, about ${amount(tokens)} tokens`],
  ]
  return [
    `${style.bold(safeText(name))}: ${stateText(state, style)}, for ${timeText(forMs)}`,
    ...tableLines(
      about.filter(([, text]) => text !== ''),
      { width, indent: 2 },
    ),
    ...findingLines(findings, { style, width }),
    ...(notes.length === 0 ? [] : ['', style.bold('What should be known of its tools')]),
    ...notes.flatMap(({ message }) => wrapped(safeText(message, { limit: 500 }), width - 2)).map((line) => `  ${line}`),
    ...(tools.length === 0 ? [] : ['', style.bold('Tools')]),
    ...tableLines(
      tools.map((tool) => [safeText(tool.name), safeText(tool.description)]),
      { width, indent: 2, last: 'cut' },
    ),
  ].join('\n')
}

function findingLines(findings: Upstream['findings'], { style, width }: Screen): readonly string[] {
  if (findings.length === 0) return []
  // Most of them end in the same words.
  const advice = new Set(findings.flatMap((each) => each.advice.split(/(?<=\.) /u)))
  return [
    '',
    style.bold(style.yellow('What looks suspicious')),
    ...findings.flatMap(({ tool, path, description, excerpt }) => [
      ...wrapped(
        `${tool === undefined ? '' : `${safeText(tool)}: `}${safeText(path, { limit: 300 })} ${safeText(description)}`,
        width - 2,
      ).map((line) => `  ${line}`),
      ...wrapped(safeText(excerpt), width - 6).map((line) => `      ${line}`),
    ]),
    ...wrapped(safeText([...advice].join(' '), { limit: 2_000 }), width - 2).map((line) => `  ${line}`),
  ]
}
