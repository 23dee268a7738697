import type { CallToolResult } from '@modelcontextprotocol/server'
import type { Problem } from '@unfold-mcp/core'
import { failureResult } from './result.ts'

const maxProblems = 50
// Paths and messages contain names that the caller chose.
const maxPathLength = 300
const maxMessageLength = 1_000

/** Problems of bounded number and length. */
export function boundedProblems(problems: readonly Problem[]): readonly Problem[] {
  return problems
    .slice(0, maxProblems)
    .map(({ path, message }) => ({ path: shortened(path, maxPathLength), message: shortened(message, maxMessageLength) }))
}

/** The lines that list problems with arguments: all of them up to a limit, so that the next call can be correct. */
export function problemLines(problems: readonly Problem[]): readonly string[] {
  const lines = boundedProblems(problems).map(({ path, message }) => `- ${path === '' ? 'arguments' : path}: ${message}`)
  return problems.length > maxProblems ? [...lines, `- … and ${problems.length - maxProblems} more`] : lines
}

const shortened = (text: string, length: number): string => (text.length > length ? `${text.slice(0, length)}…` : text)

export function invalidArguments(tool: string, problems: readonly Problem[]): CallToolResult {
  const lines = [`Invalid arguments for ${tool}:`, ...problemLines(problems), 'Correct them and call again.']
  return failureResult('invalid_arguments', lines.join('\n'))
}
