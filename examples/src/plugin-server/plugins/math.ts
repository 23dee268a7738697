import { ToolError } from '@unfold-mcp/server'
import { z } from 'zod'
import { evaluate } from '../expression.ts'
import { type Plugin, pure } from '../plugin.ts'

export const mathPlugin: Plugin = {
  name: 'math',
  description: 'Evaluate expressions, describe numbers',
  tools(register) {
    register(
      'math_evaluate',
      {
        description:
          'Evaluate an expression: + - * / % ^, brackets, pi, e, and sqrt, abs, round, floor, ceil, sin, cos, tan, ln, log, min, max.',
        inputSchema: z.object({ expression: z.string().min(1).max(1_000) }),
        ...pure,
      },
      ({ expression }) => {
        const value = evaluate(expression)
        if (!Number.isFinite(value))
          throw new ToolError(`"${expression}" has no finite value. Check for a division by zero or a large power.`)
        return { value }
      },
    )

    register(
      'math_statistics',
      {
        description: 'Describe a list of numbers: sum, mean, median, standard deviation, least and largest.',
        inputSchema: z.object({ numbers: z.array(z.number()).min(1).max(10_000) }),
        ...pure,
      },
      ({ numbers }) => statistics(numbers),
    )
  },
}

function statistics(numbers: readonly number[]) {
  const sorted = numbers.toSorted((a, b) => a - b)
  const count = sorted.length
  const sum = sorted.reduce((total, number) => total + number, 0)
  const mean = sum / count
  const variance = sorted.reduce((total, number) => total + (number - mean) ** 2, 0) / count
  const at = (index: number): number => sorted[index] ?? Number.NaN
  const median = count % 2 === 1 ? at((count - 1) / 2) : (at(count / 2 - 1) + at(count / 2)) / 2
  return { count, sum, mean, median, standardDeviation: Math.sqrt(variance), least: at(0), largest: at(count - 1) }
}
