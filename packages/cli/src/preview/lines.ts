import { formatNumber, plural } from '../text/number.ts'
import { safeText } from '../text/safe.ts'
import type { Style } from '../text/style.ts'
import { tableLines } from '../text/table.ts'
import { widthOf } from '../text/width.ts'
import { fitted, wrapped } from '../text/wrap.ts'
import type { HostPreview, PreviewedStep, PreviewedTool } from './preview.ts'

export interface Layout {
  readonly width: number
  readonly style: Style
}

export interface PreviewReport {
  readonly title: string
  readonly previews: readonly HostPreview[]
  readonly notes?: readonly string[]
}

const maxListed = 25
const maxUnlisted = 10
const maxSteps = 6
const maxReplyLines = 6

/** Output of `unfold preview`: one column per era if they fit. */
export function previewLines({ title, previews, notes = [] }: PreviewReport, layout: Layout): readonly string[] {
  const combined = overview(previews, layout)
  const parts = combined.isBroken ? previews.map((preview) => overview([preview], layout)) : [combined]
  return [
    ...wrapped(safeText(title), layout.width).map((line) => layout.style.bold(line)),
    ...parts.flatMap(({ lines }) => ['', ...lines]),
    ...stepParts(previews, layout),
    ...warningLines(previews, layout),
    ...(notes.length === 0 ? [] : ['', ...notes.flatMap((note) => hanging(`note: ${note}`, layout))]),
  ]
}

const eraName = ({ era, revision }: HostPreview): string => (era === 'session' ? `Session (${revision})` : revision)

interface Overview {
  readonly lines: readonly string[]
  /** Whether a row needs more than one line. */
  readonly isBroken: boolean
}

function overview(previews: readonly HostPreview[], { width, style }: Layout): Overview {
  const row = (label: string, cell: (preview: HostPreview) => string): readonly string[] => [label, ...previews.map(cell)]
  const all = previews.flatMap(({ tools }) => tools)
  const listed = [...new Set(all.filter(isFirst).map(({ name }) => name))]
  const unlisted = [...new Set(all.map(({ name }) => name))].filter((name) => !listed.includes(name))
  const shown = [...listed.slice(0, maxListed), ...unlisted.slice(0, maxUnlisted)]
  const widest = Math.max(20, Math.floor(width / 2) - 2)
  const rows = [
    row('', eraName),
    row('Listed first', firstText),
    row('Instructions', ({ instructionTokens }) => (instructionTokens === 0 ? 'none' : plural(instructionTokens, 'token'))),
    row('Not listed', laterText),
    row('Turns to a tool', turnsText),
    ['', ''],
    row('Tool', () => 'Tokens'),
    ...shown.map((name) =>
      row(fitted(`  ${safeText(name)}`, widest), ({ tools }) => {
        const tool = tools.find((each) => each.name === name)
        return tool === undefined ? '-' : cellText(tool)
      }),
    ),
  ]
  const [head = '', ...lines] = tableLines(rows, { width, widest })
  const rest = listed.length + unlisted.length - shown.length
  return {
    lines: [style.bold(head), ...lines, ...(rest > 0 ? [`  … and ${rest} more (--json shows all)`] : [])],
    isBroken: lines.length >= rows.length || lines.some((line) => widthOf(line) > width),
  }
}

const isFirst = ({ state }: PreviewedTool): boolean => state === 'listed' || state === 'named'

function firstText({ tools, tokens }: HostPreview): string {
  const listed = tools.filter(isFirst)
  const named = listed.filter(({ state }) => state === 'named').length
  const only = named === 0 ? '' : named === listed.length ? ' (names only)' : ` (${named} by name only)`
  return `${plural(listed.length, 'tool')}${only}, ${plural(tokens, 'token')}`
}

function laterText({ tools }: HostPreview): string {
  const later = tools.filter((tool) => !isFirst(tool))
  if (later.length === 0) return 'none'
  return `${plural(later.length, 'tool')}, ${plural(
    later.reduce((sum, { tokens }) => sum + tokens, 0),
    'token',
  )}`
}

function turnsText({ turns: { listed, unlisted } }: HostPreview): string {
  if (unlisted === undefined) return `${listed}`
  const { min, max } = unlisted
  return `${listed}; not listed: ${min === max ? min : `${min} to ${max}`}`
}

function cellText({ tokens, state, after = '' }: PreviewedTool): string {
  if (state === 'named') return `${formatNumber(tokens)}, deferred`
  if (state === 'step') return `${formatNumber(tokens)}, after ${safeText(after, { limit: 40 })}`
  if (state === 'found') return `${formatNumber(tokens)}, by search`
  return state === 'unreachable' ? `${formatNumber(tokens)}, unreachable` : formatNumber(tokens)
}

/** Printed once if identical in all eras. */
function stepParts(previews: readonly HostPreview[], layout: Layout): readonly string[] {
  const [first, ...others] = previews
  if (first === undefined) return []
  const text = JSON.stringify(first.steps)
  if (others.every(({ steps }) => JSON.stringify(steps) === text)) return stepLines('Steps', first.steps, layout)
  return previews.flatMap((preview) => stepLines(`Steps: ${eraName(preview)}`, preview.steps, layout))
}

function stepLines(title: string, steps: readonly PreviewedStep[], layout: Layout): readonly string[] {
  if (steps.length === 0) return []
  const rest = steps.length - maxSteps
  return [
    '',
    layout.style.bold(title),
    ...steps.slice(0, maxSteps).flatMap((step, index) => oneStep(step, index + 1, layout)),
    ...(rest > 0 ? [`  … and ${rest} more (--json shows all)`] : []),
  ]
}

function oneStep(step: PreviewedStep, number: number, { width, style }: Layout): readonly string[] {
  const { call, first, reply, replyTokens, isError } = step
  const before = first.length === 0 ? '' : ` after ${first.join(', ')}`
  const outcome = isError ? 'fails' : `reply ${plural(replyTokens, 'token')}${addedText(step)}`
  const lines = safeText(reply.trim(), { lines: true, limit: 4_000 })
    .split('\n')
    .flatMap((line) => wrapped(line, width - 7))
  const more = lines.length > maxReplyLines ? ['…'] : []
  return [
    ...tableLines([[`${number}.`, `${safeText(`${call}${before}`, { limit: 200 })}: ${outcome}`]], { width, indent: 2, gap: 1 }),
    ...[...lines.slice(0, maxReplyLines), ...more].map((line) => style.dim(`     | ${line}`.trimEnd())),
  ]
}

function addedText({ tools, tokens, through }: PreviewedStep): string {
  if (tools.length === 0) return ''
  const how = through === undefined ? plural(tokens, 'token') : `called with ${through}`
  return `, ${plural(tools.length, 'new tool')} (${how})`
}

/** Each warning once, with its era if it does not apply to all. */
function warningLines(previews: readonly HostPreview[], layout: Layout): readonly string[] {
  const messages = [...new Set(previews.flatMap(({ warnings }) => warnings.map(({ message }) => message)))]
  const lines = messages.flatMap((message) => {
    const where = previews.filter(({ warnings }) => warnings.some((each) => each.message === message))
    const era = where.length === previews.length ? '' : `${where.map(eraName).join(', ')}: `
    const [first = '', ...others] = hanging(`warning: ${era}${message}`, layout)
    return [first.replace('warning:', layout.style.yellow('warning:')), ...others]
  })
  return lines.length === 0 ? [] : ['', ...lines]
}

function hanging(text: string, { width }: Layout): readonly string[] {
  return wrapped(safeText(text), width - 2).map((line, index) => (index === 0 ? line : `  ${line}`))
}
