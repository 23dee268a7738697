import { Failure } from '@unfold-mcp/core'
import type { ScriptError } from '../../scripts/engine.ts'
import { errorMessage } from '../../tool/report.ts'

/** Why a script did not return. */
export interface ScriptProblem {
  readonly message: string
  readonly reason: 'script_failed' | Failure['reason']
  readonly line?: number
  readonly column?: number
}

/** An error of the script itself. */
export function thrown({ name, message, line, column }: ScriptError): ScriptProblem {
  return {
    message: message === '' ? name : `${name}: ${message}`,
    reason: 'script_failed',
    ...(line !== undefined && { line }),
    ...(column !== undefined && { column }),
  }
}

/** A limit, or what went wrong around the script. */
export function problemOf(error: unknown): ScriptProblem {
  if (error instanceof Failure) return { message: error.message, reason: error.reason }
  return { message: errorMessage(error), reason: 'script_failed' }
}
