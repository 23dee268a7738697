import { amount, counted } from '../text/amount.ts'
import { safeText } from '../text/safe.ts'
import type { Style } from '../text/style.ts'
import { tableLines } from '../text/table.ts'
import type { HostPreview } from './preview.ts'

const mostTools = 12

/** One preview as lines for a person. */
export function previewLines(
  title: string,
  preview: HostPreview,
  { width, style }: { width: number; style: Style },
): readonly string[] {
  const { tools, tokens, instructionTokens, unlisted, allTokens, turns, warnings, revision } = preview
  const deferred = tools.filter(({ loaded }) => !loaded).length
  const rest =
    unlisted.length === 0 ? '' : `; ${counted(unlisted.length, 'more tool')} on demand (all: ${amount(allTokens)} tokens)`
  const names = deferred === 0 ? '' : `, ${deferred} of them by name only`
  const shown = tools.slice(0, mostTools)
  return [
    `${style.bold(safeText(title))}  ${revision}`,
    `  The model sees ${counted(tools.length, 'tool')}${names}, ${amount(tokens)} tokens${rest}.`,
    ...(instructionTokens > 0 ? [`  Instructions: ${amount(instructionTokens)} tokens.`] : []),
    ...tableLines(
      shown.map((tool) => [safeText(tool.name), tool.loaded ? amount(tool.tokens) : 'name only']),
      { width, indent: 4 },
    ),
    ...(tools.length > mostTools ? [`    … and ${tools.length - mostTools} more`] : []),
    ...(turns.length === 0 ? [] : [`  Reaching a tool takes ${counted(turns.length, 'turn')}:`]),
    ...tableLines(
      turns.map(({ sees, does, tokens: cost }, index) => [
        `${index + 1}.`,
        safeText(`sees ${sees}${cost === undefined ? '' : ` (${amount(cost)} tokens)`}, ${does}`),
      ]),
      { width, indent: 4 },
    ),
    ...warnings.map((warning) => `  ${style.yellow('warning:')} ${safeText(warning)}`),
  ]
}

/** What two eras list differently, as one line each. */
export function differenceLines(session: HostPreview, stateless: HostPreview): readonly string[] {
  const only = (one: HostPreview, other: HostPreview): readonly string[] => {
    const others = new Set(other.tools.map(({ name }) => name))
    return one.tools.map(({ name }) => name).filter((name) => !others.has(name))
  }
  const line = (label: string, names: readonly string[]): readonly string[] =>
    names.length === 0
      ? []
      : [
          `Only listed ${label}: ${names
            .slice(0, mostTools)
            .map((name) => safeText(name))
            .join(', ')}${names.length > mostTools ? ` and ${names.length - mostTools} more` : ''}`,
        ]
  return [...line('in sessions', only(session, stateless)), ...line('on 2026-07-28', only(stateless, session))]
}
