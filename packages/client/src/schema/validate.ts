import type { Tool } from '@unfold-mcp/core'
import { type Budget, defaultBudget } from './budget.ts'
import { type Checked, checkValue } from './check.ts'

/**
 * What is wrong with these arguments by the tool's own schema. `unchecked` names what the schema asks for beyond the budget,
 * or in words that mean nothing here; the server checks that.
 */
export function validateArguments(tool: Tool, args: unknown, budget: Budget = defaultBudget): Checked {
  return checkValue(tool.inputSchema, args, budget)
}

/** The same for a tool's structured output. */
export function validateOutput(tool: Tool, value: unknown, budget: Budget = defaultBudget): Checked {
  return tool.outputSchema === undefined ? { problems: [], unchecked: [] } : checkValue(tool.outputSchema, value, budget)
}
