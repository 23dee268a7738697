import type { CallToolResult } from '@modelcontextprotocol/server'
import { isRecord, metaKeys } from '@unfold-mcp/core'
import { failureResult } from '../../tool/result.ts'
import { type CallRecord, recordText } from './call-record.ts'
import type { ScriptProblem } from './script-problem.ts'

interface Done {
  readonly run: string
  readonly records: readonly CallRecord[]
  readonly output: readonly string[]
}

/**
 * The returned value as text, and as structured content if it is an object. Hosts that have structured content do not show the text
 * to the model, so with console output there is none.
 */
export function returnedReply(value: unknown, done: Done): CallToolResult {
  const text =
    value === undefined || value === null
      ? 'The script returned nothing.'
      : typeof value === 'string'
        ? value
        : JSON.stringify(value)
  const hasOutput = done.output.length > 0
  return {
    content: [{ type: 'text', text }, ...(hasOutput ? [{ type: 'text' as const, text: outputText(done.output) }] : [])],
    ...(isRecord(value) && !hasOutput && { structuredContent: value }),
    _meta: meta(done),
  }
}

/** The result of a stored script, as that of any tool. Its console output is for its author, so no model gets it. */
export function toolReply(value: unknown, done: Done): CallToolResult {
  const { content } = returnedReply(value, { ...done, output: [] })
  const hasStructure = typeof value === 'object' && value !== null
  return { content, ...(hasStructure && { structuredContent: value }), _meta: meta(done) }
}

/** What failed, where, and what was done before, so that nobody repeats it blindly. */
export function failedReply(problem: ScriptProblem, done: Done): CallToolResult {
  const { message, reason, line, column } = problem
  const place = line === undefined ? '' : ` (line ${line}${column === undefined ? '' : `, column ${column}`})`
  const text = [
    `The script failed: ${message}${place}`,
    ...doneLines(done.records),
    ...(done.output.length > 0 ? [outputText(done.output)] : []),
  ].join('\n')
  return failureResult(reason, text, { _meta: meta(done) })
}

const mostLines = 200

export function doneLines(records: readonly CallRecord[]): readonly string[] {
  if (records.length === 0) return ['It made no calls.']
  const shown = records.slice(-mostLines).map((record) => `- ${recordText(record)}`)
  const before = records.length - shown.length
  return ['Its calls so far, which are not undone:', ...(before > 0 ? [`- … ${before} earlier calls`] : []), ...shown]
}

const outputText = (output: readonly string[]): string => `Console output:\n${output.join('\n')}`

function meta({ run, records, output }: Done): { readonly [key: string]: unknown } {
  const calls = records.map(({ tool, line, state, reason }) => ({
    tool,
    state,
    ...(line !== undefined && { line }),
    ...(reason !== undefined && { reason }),
  }))
  return { [metaKeys.data]: { run, calls, output } }
}
