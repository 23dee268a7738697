import type { CallToolResult } from '@modelcontextprotocol/server'
import type { Problem } from '@unfold-mcp/core'
import { failureResult } from './result.ts'

const maxProblems = 50

/** The lines that list problems with arguments: all of them, so that the next call can be correct. */
export function problemLines(problems: readonly Problem[]): readonly string[] {
  const lines = problems.slice(0, maxProblems).map(({ path, message }) => `- ${path === '' ? 'arguments' : path}: ${message}`)
  return problems.length > maxProblems ? [...lines, `- … and ${problems.length - maxProblems} more`] : lines
}

export function invalidArguments(tool: string, problems: readonly Problem[]): CallToolResult {
  const lines = [`Invalid arguments for ${tool}:`, ...problemLines(problems), 'Correct them and call again.']
  return failureResult('invalid_arguments', lines.join('\n'))
}
