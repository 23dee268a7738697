import type { Tool } from '@unfold-mcp/core'
import { type Budget, defaultBudget } from './budget.ts'
import { checkValue, type ValidationResult } from './check.ts'

/**
 * Checks arguments against the input schema of a tool. `unchecked` lists parts of the schema that are beyond the budget or not
 * supported; the server checks those.
 */
export function validateArguments(tool: Tool, args: unknown, budget: Budget = defaultBudget): ValidationResult {
  return checkValue(tool.inputSchema, args, budget)
}

/** Checks structured content against the output schema of a tool. */
export function validateOutput(tool: Tool, value: unknown, budget: Budget = defaultBudget): ValidationResult {
  return tool.outputSchema === undefined ? { problems: [], unchecked: [] } : checkValue(tool.outputSchema, value, budget)
}
